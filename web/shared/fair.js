/**
 * How the amounts of a round can be checked: from the secret of a settled round everybody can recompute what each claim was
 * to be, and see that the secret is the one which was committed to before the rain began. The rules are the server's own
 * (internal/game: secret, split, commitment), written once more so that nobody has to take its word; testdata/fair.json holds
 * the two against each other. Every step is exact: no number here exceeds 2^53.
 */
import { sha1 } from '../vendor/noble-hashes/legacy.js';
import { sha256 } from '../vendor/noble-hashes/sha2.js';

/** @import {Claim, Round, Tier} from './messages.js' */

/** The number of the way in which amounts are drawn; a commitment names it. */
const ALGORITHM = 1;

const DRAW_DIGITS = 13;
const DRAWS_PER_HASH = 3;
/** So many amounts are worked out before others get a turn. */
const AMOUNTS_AT_ONCE = 5000;

const utf8 = new TextEncoder();

/** @param {Uint8Array} bytes */
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/**
 * What the commitment is the SHA-256 of.
 * @param {Round} round with its secret
 */
export function committedText(round) {
  const { secret, total_cents: total, packets, min_cents: min, max_cents: max, pace, cap } = round;
  return ['redrain', ALGORITHM, secret, total, packets, min, max, splitText(round), pace, cap].join(':');
}

/** @param {Round} round */
function splitText({ split, deal, tiers }) {
  if (split === 'live') return split;
  if (deal !== 'tiers') return `${split}/${deal}`;
  return `${split}/${deal}/${tiers.map((tier) => `${tier.packets}x${tier.cents}`).join(',')}`;
}

/** @param {Round} round with its secret */
export const commitmentOf = (round) => hex(sha256(utf8.encode(committedText(round))));

/** The endless sequence of 52-bit draws under a label of a secret. */
class Draws {
  #prefix;
  #block = -1;
  #digest = '';

  /** @param {string} secret @param {'live'|'dealt'|'shuffle'} label */
  constructor(secret, label) {
    this.#prefix = `${secret}:${label}:`;
  }

  /** Draw n, from 0. @param {number} n */
  at(n) {
    const block = Math.floor(n / DRAWS_PER_HASH);
    if (block !== this.#block) {
      this.#digest = hex(sha1(utf8.encode(this.#prefix + block)));
      this.#block = block;
    }
    const from = DRAW_DIGITS * (n % DRAWS_PER_HASH);
    return Number.parseInt(this.#digest.slice(from, from + DRAW_DIGITS), 16);
  }
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
export async function amountsOf(round, pause = async () => {}) {
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
 * The claims that are not what the secret says.
 * @param {Claim[]} claims
 * @param {number[]} amounts
 */
export const wrongClaims = (claims, amounts) => claims.filter(({ number, cents }) => amounts[number - 1] !== cents);
