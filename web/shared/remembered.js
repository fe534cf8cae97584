/** What this device remembers of a person's choices. A convenience only: private windows may refuse to keep anything. */

const PREFIX = 'redrain.';

/** @param {string} name @returns {string|null} */
export function recall(name) {
  try {
    return globalThis.localStorage?.getItem(PREFIX + name) ?? null;
  } catch {
    return null;
  }
}

/** @param {string} name @param {string} value */
export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // the choice then lasts as long as the page
  }
}
