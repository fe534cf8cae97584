/**
 * How a round can be checked: from the secret of a settled round everybody can recompute what each claim was to be, and see
 * that secret and settings are those which were committed to before the rain began. The rules are the server's own
 * (internal/game: split, commitment), written once more so that nobody has to take its word; testdata/fair.json holds
 * the two against each other. Every step is exact: no number here exceeds 2^53.
 */
import { sha256 } from '../vendor/noble-hashes/sha2.js';
import { Draws, hex } from './random-draws.js';

/** @import {Claim, Drop, Round} from './messages.js' */

/** So many amounts are worked out before others get a turn. */
const AMOUNTS_AT_ONCE = 5000;

const utf8 = new TextEncoder();

const START = /^redrain:\d:[0-9a-f]{64}(:\d+){4}:(live|dealt\/(double_mean|equal|tiers\/\d+x\d+(,\d+x\d+)*)):(even|burst):\d+/.source;
/** What committed texts look like, by algorithm. A text of this form has one meaning: no part of it can pass for another. */
const FORMS = new Map([
  [1, new RegExp(`${START}$`)],
  [2, new RegExp(`${START}(:\\d+){4}(:(true|false)){2}:[0-9a-f-]{36}$`)],
]);

/** Whether this code knows how the round is drawn and committed to. @param {Round} round */
export const isKnown = ({ algorithm }) => FORMS.has(algorithm);

/** Whether the commitment covers what decides the drops, and not the amounts alone. @param {Round} round */
export const coversDrops = ({ algorithm }) => algorithm > 1;

/**
 * What the commitment is the SHA-256 of.
 * @param {Round} round with its secret, of a known algorithm
 */
export function committedText(round) {
  const { algorithm, secret, total_cents: total, packets, min_cents: min, max_cents: max, pace, cap } = round;
  /** @type {(string|number|boolean)[]} */
  const parts = ['redrain', algorithm, secret, total, packets, min, max, splitText(round), pace, cap];
  if (coversDrops(round)) {
    const { countdown_ms: countdown, duration_ms: duration, drops_per_second: drops, bomb_percent: bombs, close_when_sold_out: close, rehearsal, id } = round;
    parts.push(countdown, duration, drops, bombs, close, rehearsal, id);
  }
  return parts.join(':');
}

/** @param {Round} round */
function splitText({ split, deal, tiers }) {
  if (split === 'live') return split;
  if (deal !== 'tiers') return `${split}/${deal}`;
  return `${split}/${deal}/${tiers.map((tier) => `${tier.packets}x${tier.cents}`).join(',')}`;
}

/** The commitment worked out again, or '' where secret and settings are none that a round can have. @param {Round} round with its secret */
export function computeCommitment(round) {
  const text = committedText(round);
  return FORMS.get(round.algorithm)?.test(text) ? hex(sha256(utf8.encode(text))) : '';
}

/**
 * The next packet's amount when rest cents are left for left packets; u is the draw.
 * @param {number} rest
 * @param {number} left
 * @param {number} low
 * @param {number} high 0: no limit
 * @param {number} u
 */
export function liveAmount(rest, left, low, high, u) {
  if (left === 1) return rest;
  let lowest = low;
  let highest = rest - (left - 1) * low;
  if (high > 0) {
    lowest = Math.max(low, rest - (left - 1) * high);
    highest = Math.min(high, highest);
  }
  const turn = u % left;
  const mean = (rest - (rest % left)) / left + (turn < rest % left ? 1 : 0);
  const width = Math.min(mean - lowest, highest - mean);
  return mean - width + (((u - turn) / left) % (2 * width + 1));
}

/** @param {Round} round @param {'live'|'dealt'} label */
function* drawn({ secret, total_cents: total, packets, min_cents: low, max_cents: high }, label) {
  const draws = new Draws(secret, label);
  let rest = total;
  for (let i = 0; i < packets; i++) {
    const amount = liveAmount(rest, packets - i, low, high, draws.at(i));
    rest -= amount;
    yield amount;
  }
}

/** The remainder goes to the first packets, a cent each. @param {Round} round */
function* equal({ total_cents: total, packets }) {
  const extra = total % packets;
  for (let i = 0; i < packets; i++) yield (total - extra) / packets + (i < extra ? 1 : 0);
}

/** @param {Round} round */
function* tiered({ tiers }) {
  for (const { packets, cents } of tiers) for (let i = 0; i < packets; i++) yield cents;
}

/** @param {Round} round */
function unshuffled(round) {
  if (round.split === 'live') return drawn(round, 'live');
  switch (round.deal) {
    case 'equal': return equal(round);
    case 'tiers': return tiered(round);
    default: return drawn(round, 'dealt');
  }
}

/**
 * Every packet's amount in cents, in the order of the claims' numbers. A million of them take a phone some seconds: pause is
 * awaited every now and then, so that the page stays alive, and told how far it is.
 * @param {Round} round with its secret
 * @param {(part: number) => Promise<unknown>} [pause] part: from 0 to 1
 */
export async function computeAmounts(round, pause = async () => {}) {
  /** @type {number[]} */
  const amounts = [];
  const dealt = round.split === 'dealt';
  const steps = round.packets * (dealt ? 2 : 1);
  for (const amount of unshuffled(round)) {
    if (amounts.push(amount) % AMOUNTS_AT_ONCE === 0) await pause(amounts.length / steps);
  }
  if (dealt) await shuffle(amounts, round.secret, (swapped) => pause((round.packets + swapped) / steps));
  return amounts;
}

/** Fisher and Yates', from the last place down. @param {number[]} amounts @param {string} secret @param {(swapped: number) => Promise<unknown>} pause */
async function shuffle(amounts, secret, pause) {
  const draws = new Draws(secret, 'shuffle');
  const last = amounts.length - 1;
  for (let i = last; i > 0; i--) {
    const j = draws.at(last - i) % (i + 1);
    [amounts[i], amounts[j]] = [amounts[j], amounts[i]];
    if ((last - i) % AMOUNTS_AT_ONCE === AMOUNTS_AT_ONCE - 1) await pause(last - i);
  }
}

/**
 * The claims that are not what the secret says: of another amount, or won with a drop that was no packet.
 * @param {Claim[]} claims
 * @param {number[]} amounts
 * @param {Drop[]} schedule
 */
export const findWrongClaims = (claims, amounts, schedule) =>
  claims.filter(({ number, cents, drop }) => amounts[number - 1] !== cents || schedule[drop - 1]?.kind !== 'packet');
