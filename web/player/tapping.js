import { t } from '../shared/i18n.js';
import { tap } from '../shared/messages.js';
import { money } from '../shared/money.js';
import { playCue } from '../shared/sound-effects.js';
import { showToast } from '../shared/toast.js';
import { computed, effect, signal } from '../shared/view.js';
import { TapLog } from './tap-log.js';

/** @import {ClaimMade, Drop, Notice, Refused, Result} from '../shared/messages.js' */
/** @import {Live} from '../shared/live-room.js' */

/** @typedef {''|'capped'|'sold_out'|'frozen'} TapStatus why tapping on is of no use right now */

/** @typedef {{drop: Drop, x: number, y: number}} Target a drop, and where it is */
/**
 * Displays touches and results at a position.
 * @typedef {object} Show
 * @property {(x: number, y: number, now: number, colour?: string) => void} touch the touch itself, before any answer
 * @property {(x: number, y: number, now: number, text: string) => void} win
 * @property {(x: number, y: number, now: number, text: string) => void} shrug
 * @property {(x: number, y: number, now: number) => void} explode
 */

const BOMB_HOLD_MS = 2000;
const FROZEN_SHOWN_MS = 3000;

/** Sends taps, tracks them in a log, and shows their results. One per round. */
export class Tapping {
  verdict = computed(() => this._judge());
  /** Until when a bomb holds this page's input, in ms of performance.now(); 0: not. */
  heldUntil = signal(0);
  log = new TapLog();

  /** What a result said last. @type {import('../vendor/signals-core.js').Signal<TapStatus>} */
  #told = signal('');
  #live;
  #round;
  #show;
  /** Where each tap was made, for answers that come when the drop is gone. @type {Map<number, {x: number, y: number}>} */
  #touched = new Map();
  /** @type {Set<number>} */
  #celebrated = new Set();
  #placeNow;
  /** @type {Array<() => void>} */
  #ends = [];

  /**
   * @param {Live} live
   * @param {string} round
   * @param {Show} show
   * @param {(drop: number) => {x: number, y: number}|null} placeNow where a drop is right now
   */
  constructor(live, round, show, placeNow) {
    this.#live = live;
    this.#round = round;
    this.#show = show;
    this.#placeNow = placeNow;
    for (const claim of live.store.claims.peek()) this._known(claim.drop);
    this.#ends.push(live.store.listen((message) => this._hear(message)));
    this.#ends.push(effect(() => { if (live.connection.state.value === 'open') this._sendAgain(); }));
  }

  stop() {
    for (const end of this.#ends) end();
  }

  get isHeld() {
    return performance.now() < this.heldUntil.value;
  }

  /** A finger came down, on a drop or beside all of them. @param {number} x @param {number} y @param {Target|null} place */
  touch(x, y, place) {
    const now = performance.now();
    if (this.isHeld) return;
    if (!place) return this.#show.touch(x, y, now, 'rgba(255, 235, 184, 0.35)');
    if (place.drop.kind === 'bomb') this._hitBomb(place, now);
    else this._touchPacket(x, y, now);
    if (this.verdict.value === 'capped' || this.verdict.value === 'sold_out') return;
    this._send(place.drop.drop, x, y, now);
  }

  /** @param {number} drop @param {number} x @param {number} y @param {number} now */
  _send(drop, x, y, now) {
    this.#touched.set(drop, { x, y });
    if (this.#live.connection.send(tap(this.#round, drop))) this.log.tapped(drop, now);
    else this.#show.shrug(x, y, now, t('rain.offline'));
  }

  _sendAgain() {
    const now = performance.now();
    for (const drop of this.log.unanswered()) {
      if (this.log.isDone(drop)) continue;
      if (this.#live.connection.send(tap(this.#round, drop))) this.log.tapped(drop, now);
    }
  }

  /** @param {number} x @param {number} y @param {number} now */
  _touchPacket(x, y, now) {
    this.#show.touch(x, y, now);
    playCue('tap');
  }

  /** @param {Target} place @param {number} now */
  _hitBomb(place, now) {
    playCue('bomb');
    this.#show.explode(place.x, place.y, now);
    this.heldUntil.value = now + BOMB_HOLD_MS;
    setTimeout(() => { this.heldUntil.value = 0; }, BOMB_HOLD_MS);
  }

  /** @param {Result|ClaimMade|Notice|Refused} message */
  _hear(message) {
    if (message.type === 'result' && message.round === this.#round) this._answered(message);
    if (message.type === 'claim' && message.claim.round === this.#round) this._won(message.claim.drop, message.claim.cents);
  }

  /** @param {Result} result */
  _answered({ drop, outcome, cents }) {
    this.log.answered(drop, outcome);
    const now = performance.now();
    const { x, y } = this._whereIs(drop);
    switch (outcome) {
      case 'won': case 'duplicate': return this._won(drop, cents);
      case 'missed': playCue('missed'); return this.#show.shrug(x, y, now, t('rain.missed'));
      case 'throttled': return this.#show.shrug(x, y, now, t('rain.throttled'));
      case 'busy': return showToast(t('rain.busy'));
      case 'capped': case 'sold_out': this.#told.value = outcome; return undefined;
      case 'frozen': return this._frozen();
      default: return undefined;
    }
  }

  /** @param {number} drop @param {number} cents */
  _won(drop, cents) {
    if (this.#celebrated.has(drop)) return;
    this._known(drop);
    const { x, y } = this._whereIs(drop);
    playCue('won');
    this.#show.win(x, y, performance.now(), `+${money(cents)}`);
  }

  /** @param {number} drop */
  _known(drop) {
    this.#celebrated.add(drop);
    this.log.answered(drop, 'won');
  }

  _frozen() {
    if (this.#told.value) return;
    this.#told.value = 'frozen';
    setTimeout(() => { if (this.#told.value === 'frozen') this.#told.value = ''; }, FROZEN_SHOWN_MS);
  }

  /**
   * What the page can tell by itself, as the server would, else what it was told.
   * @returns {TapStatus}
   */
  _judge() {
    const { round, claims, roundTally } = this.#live.store;
    if (round.value && claims.value.length >= round.value.cap) return 'capped';
    if (roundTally.value?.left_packets === 0) return 'sold_out';
    return round.value?.frozen ? 'frozen' : this.#told.value;
  }

  /** @param {number} drop @returns {{x: number, y: number}} */
  _whereIs(drop) {
    return this.#placeNow(drop) ?? this.#touched.get(drop) ?? { x: innerWidth / 2, y: innerHeight / 2 };
  }
}
