import { getHistory } from '../shared/api.js';
import { isOver } from '../shared/phase.js';

/** @import {PastRound} from '../shared/api.js' */
/** @import {Round, Tally} from '../shared/messages.js' */

/** @typedef {{rounds: number, packets: number, cents: number}} Totals */

/**
 * The sums of all finished rounds of a room. The round that is shown counts with its own tally, since the history includes a
 * round only a moment after its end.
 * @param {PastRound[]} past
 * @param {Round|null} round
 * @param {Tally|null} tally of that round
 * @returns {Totals}
 */
export function sumRounds(past, round, tally) {
  const shown = round && tally && isOver(round) && !round.rehearsal && round.reason !== 'cancelled'
    ? [{ round, claimed_packets: tally.claimed_packets, claimed_cents: tally.claimed_cents }] : [];
  const all = [...past.filter((one) => one.round.id !== shown[0]?.round.id), ...shown];
  return {
    rounds: all.length,
    packets: all.reduce((sum, one) => sum + one.claimed_packets, 0),
    cents: all.reduce((sum, one) => sum + one.claimed_cents, 0),
  };
}

/** The finished rounds; none if they cannot be read. @param {string} code @returns {Promise<PastRound[]>} */
export const readPastRounds = (code) => getHistory(code).then(({ rounds }) => rounds, () => []);
