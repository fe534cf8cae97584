import { computeAmounts, computeCommitment, findWrongClaims } from '../shared/fairness.js';
import { computeSchedule, findWrongDrops } from '../shared/drop-schedule.js';
import { notedCommitment } from './stored-commitments.js';

/** @import {Claim, Drop, Round} from '../shared/messages.js' */

/**
 * What checking a settled round came to.
 * @typedef {object} Findings
 * @property {number[]} amounts of all packets, in the order of claims
 * @property {Drop[]} schedule all drops, in the order of their fall
 * @property {string} commitment recomputed; '' where secret and settings are none that a round can have
 * @property {boolean} committed secret and settings are those that were committed to
 * @property {'same'|'other'|'none'} noted what this device noted before the end
 * @property {boolean} exact all amounts add up to the budget
 * @property {Claim[]} wrong own claims that differ from what was drawn
 * @property {boolean} fell the drops that came to this page are those that were drawn, and the round lasted as long as it was to
 * @property {boolean} right nothing speaks against the round
 */

/**
 * Recomputes everything. It takes seconds for a round of a million packets, and lets the page live meanwhile.
 * @param {Round} round a settled one, of a known algorithm
 * @param {Claim[]} claims own ones
 * @param {Drop[]} drops those that came to this page
 * @param {(part: number) => void} progress from 0 to 1
 * @returns {Promise<Findings>}
 */
export async function check(round, claims, drops, progress) {
  const amounts = await computeAmounts(round, (part) => {
    progress(part);
    return nextTurn();
  });
  const schedule = await computeSchedule(round, nextTurn);
  const commitment = computeCommitment(round);
  const kept = notedCommitment(round.id);
  const noted = kept === '' ? 'none' : kept === commitment ? 'same' : 'other';
  const committed = commitment !== '' && commitment === round.commitment;
  const exact = amounts.reduce((sum, cents) => sum + cents, 0) === round.total_cents;
  const wrong = findWrongClaims(claims, amounts, schedule);
  const fell = findWrongDrops(drops, schedule).length === 0 && lastedAsCommitted(round);
  const right = committed && exact && noted !== 'other' && wrong.length === 0 && fell;
  return { amounts, schedule, commitment, committed, noted, exact, wrong, fell, right };
}

const nextTurn = () => new Promise((resume) => setTimeout(resume));

/** A round that was given up before it was opened has no times. @param {Round} round */
const lastedAsCommitted = ({ starts_at: start, ends_at: end, duration_ms: duration }) => start === 0 || end - start === duration;
