/** @import {Phase, Round} from './messages.js' */

/** @typedef {'waiting'|'countdown'|'raining'|'closed'} Stage what a page shows of a round */

/** @type {Phase[]} */
const ORDER = ['draft', 'countdown', 'raining', 'closed', 'settled'];

/**
 * What to show of a round at a server time: phases change on the second on every screen, whenever the message arrives.
 * What the server says already happened is never taken back by a clock that lags.
 * @param {Round|null} round
 * @param {number} now
 * @returns {Stage}
 */
export function stageAt(round, now) {
  if (!round || round.phase === 'draft') return 'waiting';
  if (isOver(round) || now >= round.ends_at) return 'closed';
  return round.phase === 'raining' || now >= round.starts_at ? 'raining' : 'countdown';
}

/** @param {Round} round */
export const isOver = (round) => round.phase === 'closed' || round.phase === 'settled';

/** @param {Round} round */
export const isActive = (round) => round.phase === 'countdown' || round.phase === 'raining';

/**
 * Whether a message about a round tells nothing newer than what is known: phases only go forward.
 * @param {Round|null} known
 * @param {Round} told
 */
export function isOutdated(known, told) {
  return known?.id === told.id && ORDER.indexOf(told.phase) < ORDER.indexOf(known.phase);
}

/**
 * How long until the next full second before the start or the end, in ms, or 0 when nothing is due. Screens that tick then
 * change their seconds together.
 * @param {Round|null} round
 * @param {number} now
 */
export function untilNextTick(round, now) {
  if (!round || !isActive(round) || !(now < round.ends_at)) return 0;
  const target = now < round.starts_at ? round.starts_at : round.ends_at;
  return (target - now) % 1000 || 1000;
}

/**
 * Whole seconds left until a moment, as a countdown shows them: 3, 2, 1, and 0 once it is there.
 * @param {number} until
 * @param {number} now
 */
export function secondsLeft(until, now) {
  const left = Math.ceil((until - now) / 1000 - 1e-6);
  return left > 0 ? left : 0;
}
