const SHORTEST_MS = 500;
const LONGEST_MS = 15_000;

/** Standard codes after which a reconnect would repeat the fault. */
const OWN_FAULT = new Set([1003, 1007, 1009]);

/**
 * Whether to reconnect after a close code: not after 4500-4599 and our own faults.
 * @param {number} closeCode
 */
export function shouldReconnect(closeCode) {
  return !(OWN_FAULT.has(closeCode) || (closeCode >= 4500 && closeCode <= 4599));
}

/**
 * The delay before attempt n (from 0), in ms: random up to a limit that doubles, so that many clients do not reconnect at the
 * same moment.
 * @param {number} attempt
 * @param {number} random from 0 to 1
 */
export function reconnectDelay(attempt, random) {
  const most = Math.min(LONGEST_MS, 2 * SHORTEST_MS * 2 ** Math.min(attempt, 10));
  return Math.round(SHORTEST_MS + random * (most - SHORTEST_MS));
}
