import { t } from '../shared/i18n.js';
import { html, useEffect, useRef } from '../shared/view.js';
import { fromOn, PAGE } from './guest-list.js';
import { PlayerRow } from './player-row.js';
import { useHold } from './use-hold.js';

/** @import {GuestList} from './guest-list.js' */
/** @import {Guest} from './host-api.js' */

/**
 * @typedef {object} PlayersListProps
 * @property {string} code
 * @property {GuestList} list
 * @property {boolean} waiting for what another search finds
 * @property {string} editing the id of the guest whose name is being changed
 * @property {(id: string) => void} edit
 * @property {(guest: Guest) => void} changed
 * @property {(guest: Guest, blocked: boolean) => void} block
 * @property {boolean} lacking older guests are on their way
 * @property {(() => void)|false} more shows older ones, if there may be more
 */

/**
 * The guests, the newest first. While somebody is at work on the list those who join wait above it.
 * @param {PlayersListProps} props
 */
export function PlayersList({ code, list, waiting, editing, edit, changed, block, lacking, more }) {
  const { held, release, touches } = useHold();
  const top = useRef({ sought: list.sought, first: list.guests[0] });
  if (!(held || editing) || top.current.sought !== list.sought) top.current = { sought: list.sought, first: list.guests[0] };
  const guests = fromOn(list.guests, top.current.first);
  const above = list.guests.length - guests.length;
  const rows = useRef(/** @type {HTMLElement|null} */ (null));
  const next = useNextRow(rows, guests, lacking);
  return html`<div class="players-rows ${waiting ? 'players-waiting' : ''}">
    ${above > 0 && html`<button type="button" class="button button-plain players-new" data-test="players-new" data-count=${above}
      onClick=${() => { edit(''); release(); }}>↑ ${t('players.new', { n: above })}</button>`}
    <ul class="players-list" ref=${rows} ...${touches}>${guests.map((guest) => html`<${PlayerRow} key=${guest.id} code=${code} player=${guest}
      editing=${guest.id === editing} edit=${edit} changed=${changed} block=${block} />`)}</ul>
    ${list.next && more && html`<button type="button" class="button button-plain" data-test="more-players" aria-busy=${lacking}
      onClick=${() => { if (!lacking) { next(); more(); } }}>${lacking ? t('loading') : moreWords(list)}</button>`}
    ${list.next && !more && html`<p class="field-hint" data-test="players-most">${t('players.most', { n: list.guests.length })}</p>`}
  </div>`;
}

/** @param {GuestList} list */
const moreWords = (list) => (list.sought ? t('players.more_found') : t('players.more', { n: Math.max(1, Math.min(PAGE, list.total - list.guests.length)) }));

/**
 * Moves the focus from the button for more to the first row that it brought, as long as nobody has moved it elsewhere.
 * @param {{current: HTMLElement|null}} rows @param {Guest[]} guests @param {boolean} lacking
 * @returns {() => void} called when the button is pressed
 */
function useNextRow(rows, guests, lacking) {
  const last = useRef('');
  useEffect(() => {
    const at = guests.findIndex(({ id }) => id === last.current);
    if (lacking || at < 0 || at === guests.length - 1) return;
    last.current = '';
    const button = rows.current?.children[at + 1]?.querySelector('button');
    if ([document.body, rows.current?.nextElementSibling].includes(/** @type {any} */ (document.activeElement))) button?.focus({ preventScroll: true });
  }, [guests.length, lacking]);
  return () => { last.current = guests.at(-1)?.id ?? ''; };
}
