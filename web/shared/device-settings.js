/** Settings in this device's local storage, which private windows may refuse. */

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
    // kept only until the page is left
  }
}
