/** Keyboard shortcuts: what a key means here. Pure. */

/** @typedef {'new'|'start'|'stop'|'announce'|'rounds'|'players'|'books'|'rehearsals'|'help'} Shortcut */

/** @type {Record<string, Shortcut>} */
export const SHORTCUTS = { n: 'new', s: 'start', x: 'stop', a: 'announce', 1: 'rounds', 2: 'players', 3: 'books', 4: 'rehearsals', '?': 'help' };

/**
 * The shortcut that a key stands for, or null: never while somebody types or chooses, never with another key held, never while
 * a dialog asks something, and not again while the key is held down.
 * @param {{key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean, repeat: boolean, isComposing: boolean}} event
 * @param {{tagName: string, isContentEditable: boolean, type?: string}|null} at the element that has the focus
 * @param {boolean} asking whether a dialog is open
 * @returns {Shortcut|null}
 */
export function shortcutOf(event, at, asking) {
  if (asking || event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return null;
  if (at && (at.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(at.tagName))) return null;
  return SHORTCUTS[event.key.toLowerCase()] ?? null;
}
