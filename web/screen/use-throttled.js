import { useEffect, useRef, useState } from '../shared/view.js';

/**
 * A value that changes at most once in every ms, so that a leaderboard can be read. The latest value is shown after that time at
 * the latest.
 * @template T
 * @param {T} value
 * @param {number} every ms
 * @returns {T}
 */
export function useThrottled(value, every) {
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
