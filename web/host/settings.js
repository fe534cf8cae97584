/** Between the round form, all text, and a round's settings, all integers. Pure. */
import { decimal, parseUnits } from '../shared/money.js';

/** @import {Round} from '../shared/messages.js' */

/**
 * What is typed, by the API's names of the fields. Amounts are in yuan, times in seconds.
 * @typedef {object} Form
 * @property {string} title
 * @property {string} total_cents
 * @property {string} packets
 * @property {'live'|'dealt'} split
 * @property {'double_mean'|'equal'|'tiers'} deal
 * @property {{packets: string, cents: string}[]} tiers
 * @property {'even'|'burst'} pace
 * @property {string} cap
 * @property {string} min_cents
 * @property {string} max_cents empty: none
 * @property {string} countdown_ms
 * @property {string} duration_ms
 * @property {string} drops_per_second
 * @property {string} bomb_percent
 * @property {boolean} close_when_sold_out
 * @property {string} [round] the draft that is being changed; none: a new round
 */

/** Decimal places of each field. @type {Record<string, number>} */
const PLACES = {
  total_cents: 2, packets: 0, cap: 0, min_cents: 2, max_cents: 2,
  countdown_ms: 3, duration_ms: 3, drops_per_second: 0, bomb_percent: 0,
};

/** @type {Form} */
export const emptyForm = {
  title: '', total_cents: '100', packets: '50', split: 'live', deal: 'double_mean',
  tiers: [{ packets: '10', cents: '8.8' }, { packets: '1', cents: '88' }],
  pace: 'even', cap: '1', min_cents: '0.01', max_cents: '', countdown_ms: '10', duration_ms: '30',
  drops_per_second: '8', bomb_percent: '10', close_when_sold_out: true,
};

/** Whether the amounts come from a list of tiers, which then also says the total and the packets. @param {Form} form */
export const hasTiers = (form) => form.split === 'dealt' && form.deal === 'tiers';

/**
 * Reads the form exactly, without floats. Fields that are no number of their kind are listed in wrong; the server judges
 * everything else.
 * @param {Form} form
 * @returns {{settings: Record<string, unknown>, wrong: string[]}}
 */
export function readForm(form) {
  /** @type {Record<string, unknown>} */
  const settings = {
    title: form.title, split: form.split, pace: form.pace, close_when_sold_out: form.close_when_sold_out,
  };
  /** @type {string[]} */
  const wrong = [];
  for (const [name, places] of Object.entries(PLACES)) {
    const typed = /** @type {string} */ (form[/** @type {keyof Form} */ (name)]);
    const units = name === 'max_cents' && typed.trim() === '' ? 0 : parseUnits(typed, places);
    if (units === null) wrong.push(name);
    else settings[name] = units;
  }
  if (form.split === 'dealt') settings.deal = form.deal;
  if (!hasTiers(form)) return { settings, wrong };
  return { settings: { ...settings, ...readTiers(form.tiers) }, wrong: [...wrong.filter(notFromTiers), ...wrongTiers(form.tiers)] };
}

/** @param {string} field */
const notFromTiers = (field) => field !== 'total_cents' && field !== 'packets';

/** @param {Form['tiers']} tiers */
function readTiers(tiers) {
  const read = tiers.map((tier) => ({ packets: parseUnits(tier.packets, 0) ?? 0, cents: parseUnits(tier.cents, 2) ?? 0 }));
  return {
    tiers: read,
    packets: read.reduce((sum, tier) => sum + tier.packets, 0),
    total_cents: read.reduce((sum, tier) => sum + tier.packets * tier.cents, 0),
  };
}

/** @param {Form['tiers']} tiers */
const wrongTiers = (tiers) =>
  (tiers.some((tier) => parseUnits(tier.packets, 0) === null || parseUnits(tier.cents, 2) === null) ? ['tiers'] : []);

/**
 * A form filled with an existing round's settings.
 * @param {Round} round
 * @returns {Form}
 */
export function formOf(round) {
  return {
    title: round.title,
    total_cents: short(decimal(round.total_cents)),
    packets: String(round.packets),
    split: round.split,
    deal: round.deal || 'double_mean',
    tiers: round.tiers.length > 0 ? round.tiers.map((tier) => ({ packets: String(tier.packets), cents: short(decimal(tier.cents)) })) : emptyForm.tiers,
    pace: round.pace,
    cap: String(round.cap),
    min_cents: short(decimal(round.min_cents)),
    max_cents: round.max_cents > 0 ? short(decimal(round.max_cents)) : '',
    countdown_ms: seconds(round.countdown_ms),
    duration_ms: seconds(round.duration_ms),
    drops_per_second: String(round.drops_per_second),
    bomb_percent: String(round.bomb_percent),
    close_when_sold_out: round.close_when_sold_out,
  };
}

/** @param {number} ms */
const seconds = (ms) => short(`${Math.floor(ms / 1000)}.${String(ms % 1000).padStart(3, '0')}`);

/** Removes trailing zeros. @param {string} text */
const short = (text) => text.replace(/\.?0+$/, '');

/**
 * Amounts counted into equal ranges for a histogram.
 * @param {number[]} amounts
 * @param {number} most ranges
 */
export function histogram(amounts, most) {
  if (amounts.length === 0) return [];
  const least = amounts.reduce((a, b) => Math.min(a, b));
  const span = amounts.reduce((a, b) => Math.max(a, b)) - least + 1;
  const ranges = new Array(Math.min(most, span)).fill(0);
  for (const amount of amounts) ranges[Math.floor(((amount - least) * ranges.length) / span)]++;
  return ranges;
}

/** How many packets a second somebody catches at most, however many fall. */
const FASTEST = 2;

/**
 * How long a round's packets last for so many players: a rough estimate, in which everybody catches half of what falls, up to
 * two a second.
 * @param {Record<string, any>} settings
 * @param {number} players
 * @returns {{taken: number, seconds: number}} how many packets find somebody, and when the last of them is gone
 */
export function lasting({ packets, cap, pace, duration_ms: duration, drops_per_second: drops, bomb_percent: bombs }, players) {
  const whole = duration / 1000;
  const each = Math.min(FASTEST, (drops * (1 - bombs / 100)) / 2);
  const wanted = Math.min(packets, players * cap);
  const taken = Math.min(wanted, Math.floor(players * each * whole));
  if (taken === 0) return { taken, seconds: 0 };
  const caught = taken / (players * each);
  const released = pace === 'burst' ? 0 : ((taken - 1) * 0.9 * whole) / packets;
  return { taken, seconds: Math.min(whole, Math.max(caught, released)) };
}

/**
 * Drafts in the order in which they are to be played.
 * @param {Round[]} rounds
 */
export const plannedDrafts = (rounds) => rounds.filter(({ phase }) => phase === 'draft').sort((a, b) => a.place - b.place);

/**
 * The ids of a list with one moved by so many places; null if it cannot move.
 * @param {string[]} ids @param {string} id @param {number} by
 */
export function moved(ids, id, by) {
  const from = ids.indexOf(id);
  const to = from + by;
  if (from < 0 || to < 0 || to >= ids.length) return null;
  const list = ids.filter((one) => one !== id);
  list.splice(to, 0, id);
  return list;
}

/** A moment as an input of type datetime-local has it, by this device's time zone. @param {number} ms */
export function localTime(ms) {
  const at = new Date(ms);
  return new Date(ms - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
