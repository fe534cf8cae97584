/** @typedef {{roundTrip: number, offset: number}} Sample */

const SAMPLES_KEPT = 8;
const LONGEST_ROUND_TRIP_MS = 20_000;

/**
 * The server's clock as this page knows it. It is built on a monotonic clock, so the device's own date may be wrong by
 * years or jump in the middle of a round. Of the last few exchanges the one with the shortest round trip is believed,
 * since its error is at most half of that.
 */
export class Clock {
  /** @type {Sample[]} */
  #samples = [];
  /** @type {number} */
  #offset = NaN;
  #monotonic;

  /** @param {() => number} [monotonic] milliseconds that never go back */
  constructor(monotonic = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** Server time in ms since 1970, with fractions; NaN before the first message. */
  now() {
    return this.#monotonic() + this.#offset;
  }

  /** What a ping carries: an integer of this page's own monotonic clock. */
  stamp() {
    return Math.round(this.#monotonic());
  }

  /**
   * Takes a server time whose travel time is unknown, as in a welcome. It counts only until a pong came.
   * @param {number} serverNow
   */
  hint(serverNow) {
    this._keep({ roundTrip: Infinity, offset: serverNow - this.#monotonic() });
  }

  /**
   * Takes a pong. One that took absurdly long, or claims to answer a future ping, tells nothing.
   * @param {number} sent the stamp of the ping
   * @param {number} serverNow
   */
  pong(sent, serverNow) {
    const received = this.#monotonic();
    const roundTrip = received - sent;
    if (roundTrip < -1 || roundTrip > LONGEST_ROUND_TRIP_MS) return;
    this._keep({ roundTrip: Math.max(roundTrip, 0), offset: serverNow + roundTrip / 2 - received });
  }

  /** After a sleep the monotonic clock may have stood still: the next sample replaces all that were kept. */
  distrust() {
    this.#samples = [];
  }

  /** @param {Sample} sample */
  _keep(sample) {
    this.#samples.push(sample);
    if (this.#samples.length > SAMPLES_KEPT) this.#samples.shift();
    const best = this.#samples.reduce((a, b) => (b.roundTrip <= a.roundTrip ? b : a));
    this.#offset = best.offset;
  }
}
