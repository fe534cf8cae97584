import { useEffect, useRef } from '../shared/view.js';
import { shortcutOf } from './keys.js';

/** @import {Shortcut} from './keys.js' */

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
