import { asApiError, qrAddress } from '../shared/api.js';
import { languageTag, t } from '../shared/i18n.js';
import { useJoinAddress } from '../shared/join-address.js';
import { RankList } from '../shared/rank-list.js';
import { showToast } from '../shared/toast.js';
import { html, useState } from '../shared/view.js';
import { WinnerList } from '../shared/winner-list.js';
import { HealthCard } from './health-card.js';
import { announce } from './host-api.js';

/** @import {Live} from '../shared/live-room.js' */

/** @param {{code: string, live: Live}} props */
export function RoomSide({ code, live }) {
  const tally = live.store.roundTally.value;
  return html`<aside class="room-side">
    <${ShareCard} code=${code} live=${live} />
    <${AnnounceBox} code=${code} />
    <section class="card"><h2>${t('ranks.title')}</h2><${RankList} ranks=${tally?.top ?? []} /></section>
    <section class="card"><h2>${t('winners.title')}</h2><${WinnerList} winners=${tally?.winners ?? []} /></section>
    <${HealthCard} connection=${live.connection} />
  </aside>`;
}

/**
 * How to join: QR code, room code, links.
 * @param {{code: string, live: Live}} props
 */
export function ShareCard({ code, live }) {
  const [chosen, choose] = useState(0);
  const { urls, reachable, at } = useJoinAddress(code, chosen);
  const link = urls[at];
  const copy = () => navigator.clipboard?.writeText(link).then(() => showToast(t('share.copied'), 'good'), () => {});
  return html`<section class="card share">
    <img class="share-qr" src=${qrAddress(code, at)} alt=${t('share.qr')} width="168" height="168" />
    <div class="share-words">
      <p class="share-label">${t('share.code')}</p>
      <p class="share-code" data-test="room-code" data-code=${code}>${code}</p>
      <p class="share-online" data-test="online" data-count=${live.store.online.value}>${t('online', { n: live.store.online.value })}</p>
      <a class="share-link" href=${link} target="_blank" rel="noopener" data-test="room-link">${link}</a>
      ${!reachable && html`<p class="share-warning" role="alert" data-test="not-reachable">${t('share.unreachable')}</p>`}
      ${urls.length > 1 && html`<label class="share-choice">${t('share.address')}
        <select data-test="address" onChange=${(/** @type {{target: HTMLSelectElement}} */ event) => choose(Number(event.target.value))}>
          ${urls.map((url, i) => html`<option value=${i} selected=${i === at}>${new URL(url).host}</option>`)}
        </select></label>`}
      <div class="share-buttons">
        <a class="button button-red" href=${`/screen/${code}${at ? `?at=${at}` : ''}`} target="_blank" rel="noopener" data-test="open-screen">${t('share.screen')}</a>
        ${navigator.clipboard && html`<button type="button" class="button button-plain" onClick=${copy}>${t('share.copy')}</button>`}
      </div>
    </div>
  </section>`;
}

const MOST = 80;

/** Sends an announcement to all pages. @param {{code: string}} props */
export function AnnounceBox({ code }) {
  const [text, setText] = useState('');
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const letters = text.trim();
  const length = Intl.Segmenter ? [...new Intl.Segmenter(languageTag()).segment(letters)].length : letters.length;

  /** @param {Event} event */
  async function send(event) {
    event.preventDefault();
    setBusy(true);
    try {
      await announce(code, text);
      setText('');
      setError('');
      showToast(t('announce.sent'), 'good');
    } catch (failure) {
      setError(asApiError(failure).text);
    }
    setBusy(false);
  }

  return html`<form class="card announce" onSubmit=${send} novalidate>
    <label class="field"><span class="field-label">${t('announce.title')}</span>
      <input class="input" id="announce" data-test="announce" autocomplete="off" maxlength="400" placeholder=${t('announce.placeholder')} value=${text} aria-invalid=${error !== ''}
        onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ event) => { setText(event.currentTarget.value); setError(''); }} />
      <span class="field-hint">${t('announce.hint', { count: length, most: MOST })}</span>
      ${error && html`<span class="field-error" role="alert" data-test="error-announce">${error}</span>`}
    </label>
    <button class="button button-plain" data-test="send-announcement" disabled=${busy || length === 0 || length > MOST}>${t('announce.go')}</button>
  </form>`;
}
