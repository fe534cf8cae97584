import { ApiError, asApiError } from '../shared/api.js';
import { reconnectDelay } from '../shared/backoff.js';
import { t } from '../shared/i18n.js';
import { html, useEffect, useMemo, useRef, useState } from '../shared/view.js';

/** @import {Store} from '../shared/store.js' */

/** Timeout of a read. */
const DEADLINE_MS = 15_000;
/** Minimum interval between reads that hints cause. */
const GAP_MS = 300;

/**
 * Input of a read: the known value, and whether to read all of it again or only what is new.
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
 * Reads a value repeatedly, with at most one read in flight and one queued. A failed read is retried with backoff; value stays
 * and error is set.
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
  /** Local changes, which the read in flight may not include. @type {((value: T|null) => T)[]} */
  #changes = [];
  /** Of the next read. @type {ReturnType<typeof setTimeout>|undefined} */
  #timer;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #gap;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #deadline;

  /** @param {ReaderOptions<T>} options */
  constructor(options) {
    this.#options = options;
  }

  /** Reads now, or after the read in flight. @param {boolean} [whole] */
  ask(whole = true) {
    this._want(whole);
    if (!this.#underWay) this._begin();
  }

  /** Reads soon, because of a notice; after a failure with the next retry. @param {boolean} [whole] */
  hint(whole = true) {
    this._want(whole);
    if (!this.#underWay && !this.#gap && !(this.#failures > 0 && this.#timer)) this._begin();
  }

  /** Changes the value locally. @param {(value: T|null) => T} change */
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
  _want(whole) {
    this.#wanted = true;
    this.#whole ||= whole;
  }

  _begin() {
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
    this.#gap = setTimeout(() => this._gapOver(), GAP_MS);
    const end = (/** @type {() => void} */ apply) => {
      if (this.#underWay === request && !this.#stopped) this._end(apply);
    };
    const failed = (/** @type {unknown} */ failure) => end(() => this._fail(failure, whole));
    this.#deadline = setTimeout(() => {
      failed(new ApiError('offline'));
      request.abort();
    }, DEADLINE_MS);
    this.#options.read({ known: this.value, whole, signal: request.signal }).then((value) => end(() => this._apply(value)), failed);
  }

  /** @param {() => void} apply */
  _end(apply) {
    clearTimeout(this.#deadline);
    this.#underWay = null;
    apply();
    this.#options.changed();
    if (this.#failures === 0 && this.#wanted && !this.#gap) this._begin();
  }

  /** @param {T} value */
  _apply(value) {
    this.value = this.#changes.reduce((known, change) => change(known), value);
    this.error = '';
    this.#failures = 0;
    const wait = this.#options.every?.(this.value) ?? 0;
    if (wait > 0) this.#timer = setTimeout(() => { if (this.#options.awake?.() ?? true) this.ask(); }, wait);
  }

  /** @param {unknown} failure @param {boolean} whole */
  _fail(failure, whole) {
    this.error = asApiError(failure).text;
    this.#whole ||= whole;
    const wait = reconnectDelay(this.#failures++, (this.#options.random ?? Math.random)());
    this.#timer = setTimeout(() => this._begin(), wait);
  }

  _gapOver() {
    this.#gap = undefined;
    if (this.#wanted && !this.#underWay && this.#failures === 0) this._begin();
  }
}

/** Notices may be lost, so values are read this often without any. */
const AGAIN_MS = 60_000;

/**
 * @template T
 * @typedef {object} ServerDataOptions
 * @property {Store} [store] hears the notices; everything is read again when its connection was lost and is back
 * @property {string[]} [codes] of the notices after which everything is read again
 * @property {string[]} [newCodes] of the notices after which it is enough to read what is new
 * @property {unknown[]} [also] what it depends on besides
 * @property {(value: T) => number} [every] ms after an answer until it is read again; 0: never
 */

/**
 * A value from the server, read again after a notice of its change, on wake, periodically, and by refresh. See CoalescedReader
 * for slow and failed reads.
 * @template T
 * @param {(reading: Reading<any>) => Promise<T>} read
 * @param {ServerDataOptions<NoInfer<T>>} options
 * @returns {{value: T|null, error: string, refresh: () => void, change: (change: (value: T|null) => T) => void}}
 */
export function useServerData(read, { store, codes = [], newCodes = [], also = [], every }) {
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
 * Shows why a read failed, and that the value shown is old.
 * @param {{error: string, known: boolean, retry: () => void}} props known: something from before is shown
 */
export function StaleNote({ error, known, retry }) {
  return html`<p class="stale-note" role="alert" data-test="stale"><span>⚠ ${known && `${t('stale')} `}${error}</span>
    <button type="button" class="quiet-button" data-test="retry" onClick=${retry}>${t('action.retry')}</button></p>`;
}
