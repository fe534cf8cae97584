import { asApiError, makeRoom } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { Name } from '../shared/name-text.js';
import { showPhase } from '../shared/start-page.js';
import { html, useEffect, useState } from '../shared/view.js';
import { listRoomSummaries } from './host-api.js';
import { MorePagesButton, useMorePages } from './use-more-pages.js';

/** @import {RoomSummary, RoomsPage} from './host-api.js' */

/**
 * The newest rooms at a glance, older ones on demand, and a new one.
 * @param {{first: RoomsPage, enter: (code: string) => void}} props
 */
export function RoomList({ first, enter }) {
  const { older, more } = useMorePages(first.next, (after) => listRoomSummaries(after).then((page) => ({ items: page.rooms, next: page.next })));
  const rooms = [...first.rooms, ...older];
  const [name, setName] = useState('');
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  useEffect(() => showPhase('rooms'), []);

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    setBusy(true);
    try {
      enter((await makeRoom(name)).room.code);
    } catch (failure) {
      setError(asApiError(failure).text);
    }
    setBusy(false);
  }

  return html`<main class="rooms">
    <form class="card make-room" onSubmit=${submit} novalidate>
      <h2>${t('rooms.make')}</h2>
      <label class="field">
        <span class="field-label">${t('rooms.name')}</span>
        <input class="input" name="room-name" autocomplete="off" maxlength="200" data-test="room-name" placeholder=${t('rooms.placeholder')} value=${name}
          aria-invalid=${error !== ''} onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ event) => setName(event.currentTarget.value)} />
        <span class="field-hint">${t('rooms.hint')}</span>
        <span class="field-error" data-test="error" role="alert">${error}</span>
      </label>
      <button class="button button-red" data-test="make-room" disabled=${busy}>${t('rooms.go')}</button>
    </form>
    <h1>${t('rooms.title')}</h1>
    ${rooms.length === 0 && html`<p class="empty" data-test="no-rooms">${t('rooms.empty')}</p>`}
    <ul class="rooms-list">${rooms.map((room) => html`<li key=${room.code}><${RoomLink} room=${room} /></li>`)}</ul>
    <${MorePagesButton} more=${more} test="more-rooms" />
  </main>`;
}

/** @param {{room: RoomSummary}} props */
function RoomLink({ room }) {
  return html`<a class="card room-link ${room.active ? 'room-link-active' : ''}" href="#/${room.code}" data-test="room" data-code=${room.code}>
    <span class="room-link-head"><${Name} text=${room.name} />
      ${room.active && html`<span class="pill pill-raining">${t('glance.active')}</span>`}
      ${room.locked && html`<span class="pill">${t('glance.locked')}</span>`}</span>
    <span class="room-link-code">${room.code}</span>
    <span class="room-link-facts">${t('glance.players', { n: room.players })} · ${t('glance.drafts', { n: room.drafts })} · ${t('glance.played', { n: room.played })}</span>
    ${room.played > 0 && html`<span class="room-link-facts">${t('glance.given')} <${Money} cents=${room.given_cents} /></span>`}
  </a>`;
}
