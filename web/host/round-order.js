import { isActive, isOutdated } from '../shared/phase.js';

/** @import {Round} from '../shared/messages.js' */

/**
 * The listed rounds with what the socket told of the current one, whichever is further on.
 * @param {Round[]} rounds
 * @param {Round|null} current
 */
export function withCurrent(rounds, current) {
  if (!current) return rounds;
  return rounds.map((round) => (round.id === current.id && !isOutdated(round, current) ? current : round));
}

/**
 * What needs the host first: the active round, then those to come, then the past. Within each, as listed.
 * @param {Round[]} rounds
 */
export function inOrder(rounds) {
  /** @param {Round} round */
  const urgency = (round) => (isActive(round) ? 0 : round.phase === 'draft' ? 1 : 2);
  return [...rounds].sort((a, b) => urgency(a) - urgency(b));
}
