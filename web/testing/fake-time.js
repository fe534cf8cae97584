/**
 * Timers that a test moves by hand, in place of the global ones. For tests only.
 * @returns {{pass: (ms: number) => void, skip: (ms: number) => void, now: () => number, restore: () => void}}
 *   pass: time goes by; skip: time goes by while timers stand still, as on a sleeping phone
 */
export function fakeTime() {
  const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
  /** @type {Map<number, {due: number, action: () => void}>} */
  const timers = new Map();
  let running = 0;
  let skipped = 0;
  let lastId = 0;

  const fakes = {
    setTimeout: (/** @type {() => void} */ action, delay = 0) => {
      timers.set(++lastId, { due: running + delay, action });
      return lastId;
    },
    clearTimeout: (/** @type {number} */ id) => timers.delete(id),
  };
  Object.assign(globalThis, fakes);

  /** @param {number} until */
  const next = (until) => [...timers].filter(([, { due }]) => due <= until).sort(([, a], [, b]) => a.due - b.due)[0];
  return {
    pass(ms) {
      const until = running + ms;
      for (let timer = next(until); timer; timer = next(until)) {
        const [id, { due, action }] = timer;
        timers.delete(id);
        running = Math.max(running, due);
        action();
      }
      running = until;
    },
    skip: (ms) => { skipped += ms; },
    now: () => running + skipped,
    restore: () => Object.assign(globalThis, real),
  };
}
