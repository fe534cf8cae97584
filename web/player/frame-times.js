/** How many frames are remembered: ten seconds of them. */
const KEPT = 600;

/** How long the page worked for each of the latest frames, in ms. Measuring costs two readings of the clock a frame. */
export class FrameTimes {
  #spans = new Float64Array(KEPT);
  #count = 0;

  /** @param {() => void} work */
  measure(work) {
    const start = performance.now();
    work();
    this.#spans[this.#count++ % KEPT] = performance.now() - start;
  }

  /** The latest spans, the newest last. */
  list() {
    const oldest = Math.max(0, this.#count - KEPT);
    return Array.from({ length: this.#count - oldest }, (_, i) => this.#spans[(oldest + i) % KEPT]);
  }
}
