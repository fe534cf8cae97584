import { t } from '../shared/i18n.js';
import { html, useEffect, useMemo, useRef, useState } from '../shared/view.js';
import { CoalescedReader } from './coalesced-reader.js';

/** @import {Store} from '../shared/store.js' */
/** @import {Reading} from './coalesced-reader.js' */

/** Notices may be lost: what follows them is read again after so long without any. */
const AGAIN_MS = 60_000;

/**
 * @template T
 * @typedef {object} Freshness
 * @property {Store} [store] hears the notices; everything is read again when its connection was lost and is back
 * @property {string[]} [codes] of the notices after which everything is read again
 * @property {string[]} [newCodes] of the notices after which it is enough to read what is new
 * @property {unknown[]} [also] what it depends on besides
 * @property {(value: T) => number} [every] ms after an answer until it is read again; 0: never
 */

/**
 * Something read from the server, and read again when a notice says that it has changed, when the device wakes, from time
 * to time, or when refresh is called. See CoalescedReader for what happens when answers are slow, or fail: there is an error
 * then, and the value is the last one that came.
 * @template T
 * @param {(reading: Reading<any>) => Promise<T>} read
 * @param {Freshness<NoInfer<T>>} freshness
 * @returns {{value: T|null, error: string, refresh: () => void, change: (change: (value: T|null) => T) => void}}
 */
export function useFresh(read, { store, codes = [], newCodes = [], also = [], every }) {
  const [, redraw] = useState(0);
  const latest = useRef({ read, every });
  latest.current = { read, every };
  const reader = useMemo(() => new CoalescedReader(/** @type {import('./coalesced-reader.js').ReaderOptions<T>} */ ({
    read: (reading) => latest.current.read(reading),
    changed: () => redraw((count) => count + 1),
    every: (value) => latest.current.every?.(value) ?? (store ? AGAIN_MS : 0),
    awake: isSeen,
  })), [store]);
  useEffect(() => reader.ask(false), [reader, ...also]);
  useEffect(() => {
    const deaf = store?.listen((message) => {
      if (message.type !== 'notice') return;
      if (codes.includes(message.code)) reader.hint();
      else if (newCodes.includes(message.code)) reader.hint(false);
    });
    let welcomed = store?.you.peek();
    const leave = store?.you.subscribe((you) => {
      if (you !== welcomed) reader.hint(); // notices were missed before
      welcomed = you;
    });
    const seen = () => { if (isSeen()) reader.ask(); };
    document.addEventListener('visibilitychange', seen);
    return () => {
      reader.stop();
      deaf?.();
      leave?.();
      document.removeEventListener('visibilitychange', seen);
    };
  }, [reader]);
  return { value: reader.value, error: reader.error, refresh: () => reader.ask(), change: (change) => reader.change(change) };
}

const isSeen = () => document.visibilityState === 'visible';

/**
 * Says why something could not be read, and whether what is shown is therefore old. It is read again without this, too.
 * @param {{error: string, known: boolean, retry: () => void}} props known: something from before is shown
 */
export function StaleNote({ error, known, retry }) {
  return html`<p class="stale-note" role="alert" data-test="stale"><span>⚠ ${known && `${t('stale')} `}${error}</span>
    <button type="button" class="quiet-button" data-test="retry" onClick=${retry}>${t('action.retry')}</button></p>`;
}
