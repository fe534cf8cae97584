import { asApiError } from '../shared/api.js';
import { languageTag, t } from '../shared/i18n.js';
import { Name } from '../shared/name-text.js';
import { showToast } from '../shared/toast.js';
import { html, useEffect, useRef, useState } from '../shared/view.js';
import { renamePlayer } from './host-api.js';

/** @import {Guest, GuestQuery, GuestsPage} from './host-api.js' */
/** @import {Reading} from './coalesced-reader.js' */

/** The part of a room's guests that the host's page shows: the newest of those that match a search. Pure but for its reads. */


/** How many more guests are shown at a time. */
export const PAGE = 50;
/** The most rows that a page shows; a search finds all. */
export const MOST = 500;
/** What the API gives in one answer at most. */
const LIMIT = 200;

/**
 * @typedef {object} GuestList
 * @property {string} sought what they were searched by
 * @property {Guest[]} guests the newest first
 * @property {number} total of everybody in the room
 * @property {number} most that the room may have; 0: no bound
 * @property {string} next where older ones begin; empty: there are none
 * @property {string} latest where what is new begins
 */

/** @typedef {{sought: string, shown: number, kept: string}} Wish shown: how many guests at most; kept: the id of one to keep beyond that */

/**
 * One read of the list: all that is shown, or only what is new and what is missing below.
 * @param {(query: GuestQuery, signal: AbortSignal) => Promise<GuestsPage>} list
 * @param {Wish} wish
 * @param {Reading<GuestList>} reading
 * @returns {Promise<GuestList>}
 */
export async function readGuests(list, wish, { known, whole, signal }) {
  const ask = (/** @type {Partial<GuestQuery>} */ query) => list({ limit: PAGE, name: wish.sought, ...query }, signal);
  if (!known || whole || known.sought !== wish.sought) return readWhole(ask, await ask({ limit: Math.min(wish.shown, LIMIT) }), wish, known);
  const [news, longer] = await Promise.all([ask({ limit: LIMIT, after: known.latest }), readOn(ask, known, wish.shown)]);
  return news.anew ? readWhole(ask, news, wish, known) : trimmed(withNew(longer, news), wish);
}

/**
 * @param {(query: Partial<GuestQuery>) => Promise<GuestsPage>} ask
 * @param {GuestsPage} first
 * @param {Wish} wish
 * @param {GuestList|null} known
 */
async function readWhole(ask, first, wish, known) {
  const read = await readOn(ask, { sought: wish.sought, guests: first.players, total: first.total, most: first.most, next: first.next, latest: first.latest }, wish.shown);
  const kept = known?.guests.filter(({ id }) => id === wish.kept && !read.guests.some((one) => one.id === id)) ?? [];
  return trimmed({ ...read, guests: [...read.guests, ...kept] }, wish);
}

/**
 * The list with older guests, until there are as many as wanted.
 * @param {(query: Partial<GuestQuery>) => Promise<GuestsPage>} ask @param {GuestList} list @param {number} shown
 */
async function readOn(ask, list, shown) {
  let { guests, next } = list;
  while (guests.length < shown && next) {
    const page = await ask({ limit: Math.min(shown - guests.length, LIMIT), before: next });
    const there = new Set(guests.map(({ id }) => id));
    guests = [...guests, ...page.players.filter(({ id }) => !there.has(id))];
    next = page.next;
  }
  return { ...list, guests, next };
}

/** @param {GuestList} list @param {GuestsPage} news */
function withNew(list, news) {
  const fresh = new Map(news.players.map((guest) => [guest.id, guest]));
  const guests = list.guests.map((guest) => fresh.get(guest.id) ?? guest);
  for (const { id } of list.guests) fresh.delete(id);
  return { ...list, guests: [...fresh.values(), ...guests], total: news.total, latest: news.latest };
}

/** In order; what is beyond the wish is left out, and begins the next page. @param {GuestList} list @param {Wish} wish */
function trimmed(list, { shown, kept }) {
  const guests = [...list.guests].sort(newestFirst);
  const last = guests[shown - 1];
  if (guests.length <= shown) return { ...list, guests };
  return { ...list, guests: guests.filter(({ id }, at) => at < shown || id === kept), next: `${last.joined_at}.${last.id}` };
}

/** The list with one guest as they are now. @param {GuestList} list @param {Guest} guest */
export const withGuest = (list, guest) => ({ ...list, guests: list.guests.map((one) => (one.id === guest.id ? guest : one)) });

/** The guests from one on, without those above. @param {Guest[]} guests @param {Guest|undefined} first */
export const fromOn = (guests, first) => (first ? guests.filter((guest) => newestFirst(guest, first) >= 0) : guests);

/** The order of the list, as the API has it. @param {Guest} a @param {Guest} b */
function newestFirst(a, b) {
  if (a.id === b.id) return 0;
  return b.joined_at - a.joined_at || (a.id < b.id ? 1 : -1);
}

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
 * The players, the newest first. While the host uses the list, new ones are not added.
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
 * Moves the focus from the button for more to the first row added, unless it is elsewhere.
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

/**
 * One player, with rename, block and unblock.
 * @param {{code: string, player: Guest, editing: boolean, edit: (id: string) => void, changed: (player: Guest) => void,
 *   block: (player: Guest, blocked: boolean) => void}} props
 */
function PlayerRow({ code, player, editing, edit, changed, block }) {
  const row = useRef(/** @type {HTMLElement|null} */ (null));
  const wasEditing = useRef(false);
  useEffect(() => { // keeps the focus in the row
    const to = editing ? 'input' : wasEditing.current ? '[data-test="rename"]' : '';
    wasEditing.current = editing;
    if (to) /** @type {HTMLElement|null|undefined} */ (row.current?.querySelector(to))?.focus();
  }, [editing]);
  const name = `player-${player.id}`;
  return html`<li ref=${row} class="player ${player.blocked ? 'player-blocked' : ''}" data-test="player" data-player=${player.id} data-blocked=${player.blocked}>
    ${editing ? html`<${RenameForm} code=${code} player=${player} changed=${changed} close=${() => edit('')} />`
    : html`<span class="player-name" id=${name}><${Name} text=${player.nickname} />
        ${player.own && html`<span class="pill">${t('players.own')}</span>`}
        ${player.blocked && html`<span class="pill pill-raining">${t('players.blocked')}</span>`}</span>
      <time class="player-joined" datetime=${new Date(player.joined_at).toISOString()}>${moment(player.joined_at)}</time>
      <span class="player-buttons">
        <button type="button" class="button button-plain" data-test="rename" aria-describedby=${name} onClick=${() => edit(player.id)}>${t('players.rename')}</button>
        <button type="button" class="button button-plain" data-test=${player.blocked ? 'unblock' : 'block'} aria-describedby=${name} onClick=${() => block(player, !player.blocked)}>
          ${t(player.blocked ? 'players.unblock' : 'players.block')}</button>
      </span>`}
  </li>`;
}

/** @param {{code: string, player: Guest, changed: (player: Guest) => void, close: () => void}} props */
function RenameForm({ code, player, changed, close }) {
  const [typed, setTyped] = useState(player.nickname);
  const [busy, setBusy] = useState(false);

  /** @param {Event} event */
  async function rename(event) {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      changed((await renamePlayer(code, player.id, typed)).player);
      close();
    } catch (error) {
      showToast(asApiError(error).text, 'bad');
      setBusy(false);
    }
  }
  return html`<form class="player-rename" onSubmit=${rename} onKeyDown=${(/** @type {KeyboardEvent} */ event) => { if (event.key === 'Escape') close(); }}>
    <input class="input" data-test="new-name" autocomplete="off" maxlength="200" aria-label=${t('nickname.label')} value=${typed}
      onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ event) => setTyped(event.currentTarget.value)} />
    <button class="button button-red" data-test="save-name" aria-busy=${busy}>${t('action.save')}</button>
    <button type="button" class="button button-plain" onClick=${close}>${t('action.close')}</button>
  </form>`;
}

/** Making a format takes longer than using it. @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();

/** @param {number} ms */
function moment(ms) {
  const tag = languageTag();
  const format = formats.get(tag) ?? new Intl.DateTimeFormat(tag, { dateStyle: 'short', timeStyle: 'short' });
  formats.set(tag, format);
  return format.format(ms);
}

/** How long a list is held after the last touch. */
const HOLD_MS = 3000;

/**
 * Whether the host uses an element, so that it must not move: from the first touch until a while after the last.
 * @returns {{held: boolean, release: () => void, touches: Record<string, () => void>}} touches: handlers for its element
 */
function useHold() {
  const [held, setHeld] = useState(false);
  const timer = useRef(/** @type {ReturnType<typeof setTimeout>|undefined} */ (undefined));
  const release = () => {
    clearTimeout(timer.current);
    setHeld(false);
  };
  const hold = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(release, HOLD_MS);
    setHeld(true);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return { held, release, touches: { onPointerDown: hold, onPointerMove: hold, onTouchMove: hold, onWheel: hold, onKeyDown: hold, onFocusIn: hold } };
}
