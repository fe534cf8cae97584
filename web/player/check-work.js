import { amountsOf, commitmentOf, wrongClaims } from '../shared/fair.js';
import { notedCommitment } from './noted-commitments.js';

/** @import {Claim, Round} from '../shared/messages.js' */

/**
 * What checking a settled round came to.
 * @typedef {object} Findings
 * @property {number[]} amounts of all packets, in the order of claims
 * @property {string} commitment recomputed
 * @property {boolean} committed the secret is the one that was committed to
 * @property {'same'|'other'|'none'} noted what this device noted before the end
 * @property {boolean} exact all amounts add up to the budget
 * @property {Claim[]} wrong own claims that differ from what was drawn
 * @property {boolean} right nothing speaks against the round
 */

/**
 * Recomputes everything. It takes seconds for a round of a million packets, and lets the page live meanwhile.
 * @param {Round} round a settled one
 * @param {Claim[]} claims own ones
 * @param {(part: number) => void} progress from 0 to 1
 * @returns {Promise<Findings>}
 */
export async function check(round, claims, progress) {
  const amounts = await amountsOf(round, (part) => {
    progress(part);
    return new Promise((resume) => setTimeout(resume));
  });
  const commitment = commitmentOf(round);
  const kept = notedCommitment(round.id);
  const noted = kept === '' ? 'none' : kept === commitment ? 'same' : 'other';
  const committed = commitment === round.commitment;
  const exact = amounts.reduce((sum, cents) => sum + cents, 0) === round.total_cents;
  const wrong = wrongClaims(claims, amounts);
  return { amounts, commitment, committed, noted, exact, wrong, right: committed && exact && noted !== 'other' && wrong.length === 0 };
}
