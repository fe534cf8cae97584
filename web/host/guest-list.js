/** The part of a room's guests that the host's page shows: the newest of those that match a search. Pure but for its reads. */

/** @import {Guest, GuestQuery, GuestsPage} from './host-api.js' */
/** @import {Reading} from './coalesced-reader.js' */

/** How many more guests are shown at a time. */
export const PAGE = 50;
/** More than this no page on a phone should draw; a search finds everybody. */
export const MOST = 500;
/** What the API gives in one answer at most. */
const LIMIT = 200;

/**
 * @typedef {object} GuestList
 * @property {string} sought what they were searched by
 * @property {Guest[]} guests the newest first
 * @property {number} total of everybody in the room
 * @property {string} next where older ones begin; empty: there are none
 * @property {string} latest where what is new begins
 */

/** @typedef {{sought: string, shown: number, kept: string}} Wish shown: how many guests at most; kept: the id of one to keep beyond that */

/**
 * One reading of the list: all that is shown if that is in doubt, else what is new and what is lacking below.
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
  const read = await readOn(ask, { sought: wish.sought, guests: first.players, total: first.total, next: first.next, latest: first.latest }, wish.shown);
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
