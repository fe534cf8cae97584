import { asApiError } from '../shared/api.js';
import { useEffect, useRef, useState } from '../shared/view.js';

/** @import {Store} from '../shared/store.js' */

/** News that come in a bunch are read about once. */
const BUNCH_MS = 300;

/**
 * Something read from the server, and read again whenever a notice says that it has changed, the device wakes, or refresh is
 * called. Answers that were overtaken by a later one are dropped.
 * @template T
 * @param {() => Promise<T>} read
 * @param {Store} store hears the notices
 * @param {string[]} codes of the notices
 * @param {unknown[]} [also] what it depends on besides
 * @returns {{value: T|null, error: string, refresh: () => void, set: (value: T) => void}}
 */
export function useFresh(read, store, codes, also = []) {
  const [value, setValue] = useState(/** @type {T|null} */ (null));
  const [error, setError] = useState('');
  const asked = useRef(0);
  const refresh = () => {
    const turn = ++asked.current;
    read().then((fresh) => {
      if (turn !== asked.current) return;
      setValue(/** @type {any} */ (() => fresh));
      setError('');
    }, (failure) => { if (turn === asked.current) setError(asApiError(failure).text); });
  };
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => latest.current(), also);
  useEffect(() => {
    let timer = /** @type {ReturnType<typeof setTimeout>|undefined} */ (undefined);
    const deaf = store.listen((message) => {
      if (message.type !== 'notice' || !codes.includes(message.code) || timer !== undefined) return;
      latest.current(); // at once, and once more for what came meanwhile
      timer = setTimeout(() => {
        timer = undefined;
        latest.current();
      }, BUNCH_MS);
    });
    const seen = () => void (document.visibilityState === 'visible' && latest.current());
    document.addEventListener('visibilitychange', seen);
    return () => {
      asked.current = Infinity;
      clearTimeout(timer);
      deaf();
      document.removeEventListener('visibilitychange', seen);
    };
  }, [store]);
  return { value, error, refresh, set: (fresh) => { asked.current++; setValue(/** @type {any} */ (() => fresh)); } };
}
