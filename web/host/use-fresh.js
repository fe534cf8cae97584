import { ApiError, asApiError } from '../shared/api.js';
import { delayBefore } from '../shared/backoff.js';
import { t } from '../shared/i18n.js';
import { html, useEffect, useMemo, useRef, useState } from '../shared/view.js';

/** @import {Store} from '../shared/store.js' */

/** A reading without an answer for so long has failed. */
const DEADLINE_MS = 15_000;
/** Readings that hints ask for begin this far apart at least. */
const GAP_MS = 300;

/**
 * What a reading may use: what is known so far, and whether all of it is in doubt or only new things are to be expected.
 * @template T
 * @typedef {{known: T|null, whole: boolean, signal: AbortSignal}} Reading
 */

/**
 * @template T
 * @typedef {object} ReaderOptions
 * @property {(reading: Reading<T>) => Promise<T>} read should end with its signal
 * @property {() => void} changed called when value or error have changed
 * @property {(value: T) => number} [every] ms until everything is read again without being asked; 0: never
 * @property {() => boolean} [awake] whether anybody looks; else nothing is read by the clock
 * @property {() => number} [random] from 0 to 1, for the backoff
 */

/**
 * Reads something again and again with at most one reading under way and one to follow. Every answer is applied when it
 * comes: one that was slow is still newer than what is shown. A failed reading is retried with backoff, and leaves the value
 * as it was, with an error beside it.
 * @template T
 */
export class CoalescedReader {
  /** @type {T|null} */
  value = null;
  /** Why the last reading failed, in the page's language; empty if it did not. */
  error = '';

  #options;
  /** @type {AbortController|null} the reading under way */
  #underWay = null;
  #wanted = false;
  #whole = true;
  #failures = 0;
  #stopped = false;
  /** Changes made here, of which the reading under way may not know. @type {((value: T|null) => T)[]} */
  #changes = [];
  /** The next reading: by the clock, after a failure, or after the gap. @type {ReturnType<typeof setTimeout>|undefined} */
  #timer;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #gap;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #deadline;

  /** @param {ReaderOptions<T>} options */
  constructor(options) {
    this.#options = options;
  }

  /** Reads now, or as soon as the reading under way ends. @param {boolean} [whole] */
  ask(whole = true) {
    this.#want(whole);
    if (!this.#underWay) this.#begin();
  }

  /** Reads soon, because something is said to have changed. After a failure it is left to the next attempt. @param {boolean} [whole] */
  hint(whole = true) {
    this.#want(whole);
    if (!this.#underWay && !this.#gap && !(this.#failures > 0 && this.#timer)) this.#begin();
  }

  /** Changes the value at once: what was done here is known without asking. @param {(value: T|null) => T} change */
  change(change) {
    this.value = change(this.value);
    if (this.#underWay) {
      this.#changes.push(change);
      this.#wanted = true;
    }
    this.#options.changed();
  }

  stop() {
    this.#stopped = true;
    this.#underWay?.abort();
    for (const timer of [this.#timer, this.#gap, this.#deadline]) clearTimeout(timer);
  }

  /** @param {boolean} whole */
  #want(whole) {
    this.#wanted = true;
    this.#whole ||= whole;
  }

  #begin() {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    clearTimeout(this.#gap);
    const whole = this.#whole;
    const request = new AbortController();
    this.#underWay = request;
    this.#timer = undefined;
    this.#wanted = false;
    this.#whole = false;
    this.#changes = [];
    this.#gap = setTimeout(() => this.#gapOver(), GAP_MS);
    const end = (/** @type {() => void} */ apply) => {
      if (this.#underWay === request && !this.#stopped) this.#end(apply);
    };
    const failed = (/** @type {unknown} */ failure) => end(() => this.#fail(failure, whole));
    this.#deadline = setTimeout(() => {
      failed(new ApiError('offline'));
      request.abort();
    }, DEADLINE_MS);
    this.#options.read({ known: this.value, whole, signal: request.signal }).then((value) => end(() => this.#apply(value)), failed);
  }

  /** @param {() => void} apply */
  #end(apply) {
    clearTimeout(this.#deadline);
    this.#underWay = null;
    apply();
    this.#options.changed();
    if (this.#failures === 0 && this.#wanted && !this.#gap) this.#begin();
  }

  /** @param {T} value */
  #apply(value) {
    this.value = this.#changes.reduce((known, change) => change(known), value);
    this.error = '';
    this.#failures = 0;
    const wait = this.#options.every?.(this.value) ?? 0;
    if (wait > 0) this.#timer = setTimeout(() => { if (this.#options.awake?.() ?? true) this.ask(); }, wait);
  }

  /** @param {unknown} failure @param {boolean} whole */
  #fail(failure, whole) {
    this.error = asApiError(failure).text;
    this.#whole ||= whole;
    const wait = delayBefore(this.#failures++, (this.#options.random ?? Math.random)());
    this.#timer = setTimeout(() => this.#begin(), wait);
  }

  #gapOver() {
    this.#gap = undefined;
    if (this.#wanted && !this.#underWay && this.#failures === 0) this.#begin();
  }
}

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
  const reader = useMemo(() => new CoalescedReader(/** @type {import('./use-fresh.js').ReaderOptions<T>} */ ({
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
