/** @import {Outcome} from '../shared/messages.js' */

/** An answer this late is not waited for: the drop can be tapped again. */
export const ANSWER_WITHIN_MS = 4000;

/** Outcomes after which the drop is done for this player. The others leave it as it was. @type {Set<Outcome>} */
const FINAL = new Set(['won', 'duplicate', 'missed', 'bomb']);

/** The taps of this page in one round, pending and answered, by drop. */
export class TapLog {
  /** @type {Map<number, number>} when each unanswered tap was made, in ms of the monotonic clock */
  #pending = new Map();
  /** @type {Set<number>} */
  #done = new Set();

  /** @param {number} drop @param {number} now */
  mayTap(drop, now) {
    return !this.#done.has(drop) && !this.isPending(drop, now);
  }

  /** @param {number} drop @param {number} now */
  isPending(drop, now) {
    const since = this.#pending.get(drop);
    return since !== undefined && now - since < ANSWER_WITHIN_MS;
  }

  /** @param {number} drop */
  isDone(drop) {
    return this.#done.has(drop);
  }

  /** @param {number} drop @param {number} now */
  tapped(drop, now) {
    this.#pending.set(drop, now);
  }

  /** @param {number} drop @param {Outcome} outcome */
  answered(drop, outcome) {
    this.#pending.delete(drop);
    if (FINAL.has(outcome)) this.#done.add(drop);
  }

  /** Taps whose answer was lost with their connection. To send one again is safe: a won tap repeated has its first result. */
  unanswered() {
    return [...this.#pending.keys()];
  }
}
