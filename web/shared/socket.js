import { signal } from '../vendor/signals-core.js';
import { shouldReconnect, reconnectDelay } from './backoff.js';
import { ping } from './messages.js';

/** @import {ClientMessage, ServerMessage} from './messages.js' */

/**
 * connecting: a socket is being opened; open: the server said welcome; waiting: lost, coming back at a planned time;
 * ended: not coming back by itself, see reason.
 * @typedef {'connecting'|'open'|'waiting'|'ended'} ConnectionState
 */

const PING_EVERY_MS = 10_000;
/** Early pings, to set the clock. */
const FIRST_PINGS_MS = [0, 400, 1200];
/** Without a message (pings are answered) for this long the connection is dead. */
const SILENT_MS = 25_000;
const PROBE_MS = 3_000;
const CONNECT_MS = 10_000;
/** A connection must last this long before the backoff is reset. */
const STEADY_MS = 5_000;

/**
 * A WebSocket that reconnects, depending on the close code, with jittered exponential backoff, at once when the device wakes or is
 * online again, and when nothing was received for too long.
 */
export class Connection {
  /** @type {import('../vendor/signals-core.js').Signal<ConnectionState>} */
  state = signal('connecting');
  /** Why it ended: the close reason, or what diagnose() found. */
  reason = signal('');

  #options;
  /** @type {WebSocket|null} */
  #socket = null;
  #attempt = 0;
  #lastHeard = 0;
  #openedAt = 0;
  /** @type {Set<ReturnType<typeof setTimeout>>} */
  #timers = new Set();

  /**
   * @param {object} options
   * @param {string} options.url
   * @param {(message: ServerMessage) => void} options.receive
   * @param {() => number} options.stamp an integer for pings, of a clock that never goes back, in ms
   * @param {() => void} [options.woke] called when the device wakes, before the line is probed
   * @param {() => Promise<string>} [options.diagnose] asked after an attempt that never opened, since a browser hides why:
   *   '' to try again, or the reason to end
   * @param {(url: string) => WebSocket} [options.dial]
   * @param {() => number} [options.random]
   */
  constructor(options) {
    this.#options = { dial: (/** @type {string} */ url) => new WebSocket(url), random: Math.random, ...options };
  }

  open() {
    this._clearTimers();
    this._drop();
    this.state.value = 'connecting';
    const socket = this.#options.dial(this.#options.url);
    this.#socket = socket;
    let opened = false;
    socket.onopen = () => { opened = true; };
    socket.onmessage = (event) => this._heard(event.data);
    socket.onclose = (event) => void this._closed(event.code, event.reason, opened);
    this._after(CONNECT_MS, () => this.state.value === 'connecting' && this._lost());
  }

  /** @param {ClientMessage} message @returns {boolean} whether it was handed to an open line */
  send(message) {
    if (this.state.value !== 'open' || this.#socket?.readyState !== 1) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  /** The device woke or changed its network: a socket that says open may be dead, and a planned delay is too long. */
  wake() {
    this.#options.woke?.();
    if (this.state.value === 'waiting') {
      this.open();
    } else if (this.state.value === 'open') {
      this._probe();
    }
  }

  /** Ends for good. @param {string} [reason] */
  end(reason = '') {
    this._clearTimers();
    this._drop();
    this.reason.value = reason;
    this.state.value = 'ended';
  }

  _probe() {
    const asked = this.#options.stamp();
    this._ping();
    this._after(PROBE_MS, () => this.state.value === 'open' && this.#lastHeard < asked && this._lost());
  }

  /** @param {unknown} frame */
  _heard(frame) {
    this.#lastHeard = this.#options.stamp();
    const message = parse(frame);
    if (!message) return;
    if (message.type === 'welcome') this._welcomed();
    this.#options.receive(message);
  }

  _welcomed() {
    this._clearTimers();
    this.state.value = 'open';
    this.#openedAt = this.#options.stamp();
    for (const delay of FIRST_PINGS_MS) this._after(delay, () => this._ping());
    this._watch();
  }

  _watch() {
    this._after(PING_EVERY_MS, () => {
      if (this.#options.stamp() - this.#lastHeard > SILENT_MS) return this._lost();
      this._ping();
      this._watch();
    });
  }

  _ping() {
    this.send(ping(this.#options.stamp()));
  }

  /** @param {number} code @param {string} reason @param {boolean} opened */
  async _closed(code, reason, opened) {
    this._clearTimers();
    this.#socket = null;
    if (!shouldReconnect(code)) return this.end(reason || String(code));
    this._plan();
    if (opened || !this.#options.diagnose) return;
    const verdict = await this.#options.diagnose().catch(() => '');
    if (verdict && this.state.value === 'waiting') this.end(verdict);
  }

  /** The line is dead though the socket does not know. */
  _lost() {
    this._clearTimers();
    this._drop();
    this._plan();
  }

  _plan() {
    const held = this.state.value === 'open' && this.#options.stamp() - this.#openedAt >= STEADY_MS;
    if (held) this.#attempt = 0;
    this.state.value = 'waiting';
    this._after(reconnectDelay(this.#attempt++, this.#options.random()), () => this.open());
  }

  _drop() {
    const socket = this.#socket;
    this.#socket = null;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  /** @param {number} delay @param {() => void} action */
  _after(delay, action) {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, delay);
    this.#timers.add(timer);
  }

  _clearTimers() {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}

/** @param {unknown} frame @returns {ServerMessage|null} */
function parse(frame) {
  if (typeof frame !== 'string') return null;
  try {
    return JSON.parse(frame);
  } catch {
    return null;
  }
}

/**
 * Wakes a connection whenever the browser says that something changed: the tab is seen again, the network is back, the page
 * came out of the back-forward cache.
 * @param {Connection} connection
 * @returns {() => void} stops it
 */
export function reconnectOnWake(connection) {
  const seen = () => document.visibilityState === 'visible' && connection.wake();
  const wake = () => connection.wake();
  document.addEventListener('visibilitychange', seen);
  window.addEventListener('online', wake);
  window.addEventListener('offline', wake);
  window.addEventListener('pageshow', wake);
  return () => {
    document.removeEventListener('visibilitychange', seen);
    for (const type of ['online', 'offline', 'pageshow']) window.removeEventListener(type, wake);
  };
}
