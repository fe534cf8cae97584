import { reconnectDelay } from './backoff.js';

/**
 * Repeats one action by itself after failures that pass: with a delay that grows, and at once when the device wakes or is online
 * again. One attempt is planned at a time; a new plan replaces the one before.
 */
export class Retry {
  #action;
  #random;
  #attempt = 0;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #timer = undefined;

  /** @param {() => void} action @param {() => number} [random] from 0 to 1 */
  constructor(action, random = Math.random) {
    this.#action = action;
    this.#random = random;
  }

  plan() {
    this.cancel();
    this.#timer = setTimeout(() => this.now(), reconnectDelay(this.#attempt++, this.#random()));
  }

  /** Does at once what is planned; does nothing if nothing is. */
  now() {
    if (this.#timer === undefined) return;
    this.cancel();
    this.#action();
  }

  cancel() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** The action succeeded: the next failure begins with the shortest delay. */
  succeeded() {
    this.cancel();
    this.#attempt = 0;
  }

  /** @returns {() => void} stops it, and what is planned */
  listen() {
    const wake = () => document.visibilityState === 'visible' && this.now();
    document.addEventListener('visibilitychange', wake);
    for (const type of WAKING) window.addEventListener(type, wake);
    return () => {
      this.cancel();
      document.removeEventListener('visibilitychange', wake);
      for (const type of WAKING) window.removeEventListener(type, wake);
    };
  }
}

const WAKING = ['online', 'pageshow'];
