import { getHistory } from '../shared/api.js';
import { isOver } from '../shared/phase.js';

/** @import {PastRound} from '../shared/api.js' */
/** @import {Round, Tally} from '../shared/messages.js' */

/** @typedef {{rounds: number, packets: number, cents: number}} Totals */

/**
 * What all rounds of a room gave away together. The books note a round a moment after its end: until then, and whatever they
 * say of it, the round that is on the screen counts as the screen shows it.
 * @param {PastRound[]} past
 * @param {Round|null} round
 * @param {Tally|null} tally of that round
 * @returns {Totals}
 */
export function totalsOf(past, round, tally) {
  const shown = round && tally && isOver(round) && !round.rehearsal && round.reason !== 'cancelled'
    ? [{ round, claimed_packets: tally.claimed_packets, claimed_cents: tally.claimed_cents }] : [];
  const all = [...past.filter((one) => one.round.id !== shown[0]?.round.id), ...shown];
  return {
    rounds: all.length,
    packets: all.reduce((sum, one) => sum + one.claimed_packets, 0),
    cents: all.reduce((sum, one) => sum + one.claimed_cents, 0),
  };
}

/** What the room has played; nothing when the server does not say. @param {string} code @returns {Promise<PastRound[]>} */
export const pastRounds = (code) => getHistory(code).then(({ rounds }) => rounds, () => []);
