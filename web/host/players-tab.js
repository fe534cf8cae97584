import { asApiError } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { showToast } from '../shared/toast.js';
import { html, useState } from '../shared/view.js';
import { Confirm } from './dialog.js';
import { AccessCard } from './access-card.js';
import { MOST, PAGE, PlayersList, readGuests, withGuest } from './players-list.js';
import { blockPlayer, getDoors, listPlayers } from './host-api.js';
import { SearchBox } from './search-box.js';
import { StaleNote, useServerData } from './coalesced-reader.js';

/** @import {Live} from '../shared/live-room.js' */
/** @import {GuestList} from './players-list.js' */
/** @import {Guest} from './host-api.js' */

/**
 * The players of a room, and its access policy.
 * @param {{code: string, live: Live}} props
 */
export function PlayersTab({ code, live }) {
  const { store } = live;
  const [typed, setTyped] = useState('');
  const [shown, setShown] = useState(PAGE);
  const [editing, setEditing] = useState('');
  const [asking, setAsking] = useState(/** @type {Guest|null} */ (null));
  const sought = typed.trim();
  const guests = useServerData((reading) => readGuests((query, signal) => listPlayers(code, query, signal), { sought, shown, kept: editing }, reading),
    { store, codes: ['players_edited'], newCodes: ['players_changed'], also: [sought, shown] });
  const room = useServerData(({ signal }) => getDoors(code, signal), { store, codes: ['room_changed'] });

  /** @param {Guest} guest */
  const changed = (guest) => guests.change((list) => withGuest(/** @type {GuestList} */ (list), guest));
  /** @param {Guest} guest @param {boolean} blocked */
  const block = (guest, blocked) => {
    setAsking(null);
    blockPlayer(code, guest.id, blocked).then((answer) => changed(answer.player), (error) => showToast(asApiError(error).text, 'bad'));
  };
  /** @param {string} text */
  const search = (text) => {
    setTyped(text);
    setShown(PAGE);
  };

  const list = guests.value;
  const waiting = list !== null && list.sought !== sought;
  const line = live.connection.state.value;
  const stale = guests.error || (store.you.value && line !== 'open' ? t(`connection.${line}`) : ''); // offline: no notices of joins
  return html`<div class="room-columns players-columns">
    <section class="card players" data-test="players" data-count=${list?.total ?? 0} data-sought=${list?.sought} aria-busy=${waiting}>
      <h2>${list ? t('players.title', { n: list.total }) : t('tab.players')}</h2>
      <${SearchBox} value=${typed} label=${t('players.search')} test="players-search" onInput=${search} />
      ${stale && html`<${StaleNote} error=${stale} known=${list !== null} retry=${guests.refresh} />`}
      ${list ? html`<${Found} list=${list} waiting=${waiting} />
        <${PlayersList} code=${code} list=${list} waiting=${waiting} editing=${editing} edit=${setEditing} changed=${changed}
          block=${(/** @type {Guest} */ guest, /** @type {boolean} */ blocked) => (blocked ? setAsking(guest) : block(guest, false))}
          lacking=${list.next !== '' && list.guests.length < shown} more=${shown < MOST && (() => setShown(Math.min(MOST, shown + PAGE)))} />`
      : !guests.error && html`<p class="empty" role="status">${t('loading')}</p>`}
    </section>
    <aside class="room-side players-side">
      ${room.error && html`<${StaleNote} error=${room.error} known=${room.value !== null} retry=${room.refresh} />`}
      ${room.value && html`<${AccessCard} room=${room.value.room} changed=${(/** @type {any} */ next) => room.change(() => ({ room: next }))} />`}
    </aside>
    ${asking && html`<${Confirm} title=${t('block.title')} about=${asking.nickname} text=${t('block.text')} yes=${t('players.block')} onYes=${() => block(asking, true)} onNo=${() => setAsking(null)} />`}
  </div>`;
}

/**
 * How many of them are shown, or were found.
 * @param {{list: GuestList, waiting: boolean}} props
 */
function Found({ list, waiting }) {
  const n = list.guests.length;
  if (waiting) return html`<p class="players-found" role="status">${t('players.searching')}</p>`;
  if (list.sought) return html`<p class="players-found" role="status" data-test="players-found">${n === 0 ? t('search.nothing') : t(list.next ? 'players.found_newest' : 'players.found', { n })}</p>`;
  if (list.most > 0 && list.total >= list.most) return html`<p class="players-found" role="status" data-test="room-full">${t('players.full', { n: list.most })}</p>`;
  if (list.total === 0) return html`<p class="empty" data-test="no-players">${t('players.empty')}</p>`;
  return n < list.total && html`<p class="players-found">${t('players.shown', { n, all: list.total })}</p>`;
}
