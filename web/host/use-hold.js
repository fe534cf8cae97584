import { useEffect, useRef, useState } from '../shared/view.js';

/** How long after somebody last touched a list it stays as it is. */
const HOLD_MS = 3000;

/**
 * Whether somebody is at work on something that would otherwise move under their finger: it is held from the first touch until
 * a while after the last one.
 * @returns {{held: boolean, release: () => void, touches: Record<string, () => void>}} touches: handlers for its element
 */
export function useHold() {
  const [held, setHeld] = useState(false);
  const timer = useRef(/** @type {ReturnType<typeof setTimeout>|undefined} */ (undefined));
  const release = () => {
    clearTimeout(timer.current);
    setHeld(false);
  };
  const hold = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(release, HOLD_MS);
    setHeld(true);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return { held, release, touches: { onPointerDown: hold, onPointerMove: hold, onTouchMove: hold, onWheel: hold, onKeyDown: hold, onFocusIn: hold } };
}
