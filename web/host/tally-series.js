/** The data of a round's charts, from its tallies. Pure. */

/** @import {Tally} from '../shared/messages.js' */

/** Window of the tap rate, so that a late tally makes no peak. */
const WINDOW_MS = 1000;
/** More than four tallies a second in the longest round. */
const MOST = 3000;

export class TallySeries {
  round = '';
  /** Moments of the tallies in seconds since 1970. @type {number[]} */
  times = [];
  /** @type {number[]} */
  tapsPerSecond = [];
  /** @type {number[]} */
  claimedCents = [];
  /** @type {number[]} */
  online = [];
  /** @type {{at: number, taps: number}[]} */
  #taps = [];

  /**
   * Adds a tally. One of another round resets; one that is not newer or has no time is ignored.
   * @param {Tally} tally
   * @returns {boolean} whether there is something new to show
   */
  add(tally) {
    if (!tally.round || !tally.at) return false;
    if (tally.round !== this.round) this._begin(tally.round);
    const last = this.#taps.at(-1);
    if (last && tally.at <= last.at) return false;
    this.#taps.push({ at: tally.at, taps: tally.taps });
    this.times.push(tally.at / 1000);
    this.tapsPerSecond.push(this._rate());
    this.claimedCents.push(tally.claimed_cents);
    this.online.push(tally.online);
    if (this.times.length > MOST) for (const list of [this.times, this.tapsPerSecond, this.claimedCents, this.online]) list.shift();
    return true;
  }

  /** @param {string} round */
  _begin(round) {
    this.round = round;
    this.times = [];
    this.tapsPerSecond = [];
    this.claimedCents = [];
    this.online = [];
    this.#taps = [];
  }

  _rate() {
    const now = this.#taps[this.#taps.length - 1];
    while (this.#taps.length > 2 && now.at - this.#taps[1].at >= WINDOW_MS) this.#taps.shift();
    const [before] = this.#taps;
    const passed = now.at - before.at;
    return passed > 0 ? Math.max(0, ((now.taps - before.taps) * 1000) / passed) : 0;
  }
}
