import { t } from '../shared/i18n.js';
import { html, useEffect, useRef } from '../shared/view.js';


/** Keyboard shortcuts and their help. */

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

/**
 * Calls what a key stands for, while the component is there.
 * @param {Partial<Record<Shortcut, () => void>>} actions
 */
export function useShortcuts(actions) {
  const current = useRef(actions);
  current.current = actions;
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const pressed = (event) => {
      const shortcut = shortcutOf(event, /** @type {HTMLElement|null} */ (document.activeElement), document.querySelector('dialog[open]') !== null);
      const action = shortcut && current.current[shortcut];
      if (!action) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}

/** What the keys do. @param {{close: () => void}} props */
export function ShortcutHelp({ close }) {
  const dialog = useRef(/** @type {HTMLDialogElement|null} */ (null));
  useEffect(() => dialog.current?.showModal(), []);
  return html`<dialog class="dialog" ref=${dialog} onClose=${close} aria-labelledby="keys-title" data-test="keys">
    <h2 id="keys-title">${t('keys.title')}</h2>
    <dl class="keys">
      ${Object.entries(SHORTCUTS).map(([key, name]) => html`<div key=${key}><dt><kbd>${key.toUpperCase()}</kbd></dt><dd>${t(`key.${name}`)}</dd></div>`)}
    </dl>
    <p class="field-hint">${t('keys.hint')}</p>
    <div class="dialog-buttons"><button type="button" class="button button-red" onClick=${close}>${t('action.close')}</button></div>
  </dialog>`;
}
