import { qrAddress } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { showToast } from '../shared/toast.js';
import { html } from '../shared/view.js';

/** @import {Live} from '../shared/live.js' */

/**
 * How people get in: the code to scan, the code to type, the link to send, the screen to project.
 * @param {{code: string, live: Live}} props
 */
export function ShareCard({ code, live }) {
  const link = `${location.origin}/r/${code}`;
  const copy = () => navigator.clipboard?.writeText(link).then(() => showToast(t('share.copied'), 'good'), () => {});
  return html`<section class="card share">
    <img class="share-qr" src=${qrAddress(code)} alt=${t('share.qr')} width="168" height="168" />
    <div class="share-words">
      <p class="share-label">${t('share.code')}</p>
      <p class="share-code" data-test="room-code" data-code=${code}>${code}</p>
      <p class="share-online" data-test="online" data-count=${live.store.online.value}>${t('online', { n: live.store.online.value })}</p>
      <a class="share-link" href="/r/${code}" target="_blank" rel="noopener" data-test="room-link">${link}</a>
      <div class="share-buttons">
        <a class="button button-red" href="/screen/${code}" target="_blank" rel="noopener" data-test="open-screen">${t('share.screen')}</a>
        ${navigator.clipboard && html`<button type="button" class="button button-plain" onClick=${copy}>${t('share.copy')}</button>`}
      </div>
    </div>
  </section>`;
}
