import { useEffect, useRef, useState } from '../shared/view.js';

/**
 * A value that changes at most so often: a leaderboard that is reordered four times a second cannot be read. The latest
 * value is never withheld for longer than that.
 * @template T
 * @param {T} value
 * @param {number} every ms
 * @returns {T}
 */
export function useSteady(value, every) {
  const [shown, setShown] = useState(value);
  const changed = useRef(-Infinity);
  useEffect(() => {
    const show = () => {
      changed.current = performance.now();
      setShown(value);
    };
    const timer = setTimeout(show, Math.max(0, changed.current + every - performance.now()));
    return () => clearTimeout(timer);
  }, [value]);
  return shown;
}
