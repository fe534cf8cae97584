const SHORTEST_MS = 500;
const LONGEST_MS = 15_000;

/** Codes outside of the server's own range after which coming back would only repeat the fault. */
const OWN_FAULT = new Set([1003, 1007, 1009]);

/**
 * Whether to come back by oneself after a close: 4500-4599 and our own faults say no, everything else is a lost connection.
 * @param {number} closeCode
 */
export function comesBack(closeCode) {
  return !(OWN_FAULT.has(closeCode) || (closeCode >= 4500 && closeCode <= 4599));
}

/**
 * How long to wait before attempt n (from 0), in ms. The span doubles, the place in it is random, so that a crowd that
 * lost its server at one moment does not come back at one moment.
 * @param {number} attempt
 * @param {number} random from 0 to 1
 */
export function delayBefore(attempt, random) {
  const most = Math.min(LONGEST_MS, 2 * SHORTEST_MS * 2 ** Math.min(attempt, 10));
  return Math.round(SHORTEST_MS + random * (most - SHORTEST_MS));
}
