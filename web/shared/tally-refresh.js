import { effect, signal } from '../vendor/signals-core.js';
import { getRound } from './api.js';
import { t } from './i18n.js';
import { html } from './view.js';

/** @import {Role, Round, Tally} from './messages.js' */
/** @import {Connection} from './socket.js' */
/** @import {Store} from './store.js' */

/** Tallies come every 2 s at least. For hosts and screens. */
const QUIET_MS = 5_000;
/** Each phone waits one to two times this long, so that thousands do not read in the same second. */
const PLAYER_QUIET_MS = 10_000;
/** The wait doubles with each failure, so many times at most. */
const MOST_DOUBLINGS = 3;
const DEADLINE_MS = 5_000;
/** From this age on the page shows it. */
const OLD_MS = 15_000;

/**
 * Reads the shown round over HTTP when neither a tally nor a round came for a while though the connection is open, as when the
 * instance receives nothing from Redis. At most one request is in flight. A frozen round is not read.
 */
export class TallyRefresher {
  /** Age of the last tally in whole seconds; 0 while it is recent, or no tallies are expected. */
  age = signal(0);

  #options;
  #failures = 0;
  #ended = false;
  /** Of the request under way. @type {AbortController|null} */
  #request = null;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #askTimer;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #ageTimer;
  #unfollow;

  /**
   * @param {object} options
   * @param {Pick<Store, 'round'|'talliedAt'|'read'>} options.store
   * @param {Pick<Connection, 'state'>} options.connection
   * @param {Role} options.role
   * @param {() => number} options.stamp the clock of the store's talliedAt, in ms
   * @param {(id: string, signal: AbortSignal) => Promise<{round: Round, tally: Tally}>} [options.read]
   * @param {() => number} [options.random] from 0 to 1
   */
  constructor(options) {
    this.#options = { read: getRound, random: Math.random, ...options };
    this.#unfollow = effect(() => this._follow());
  }

  stop() {
    this.#ended = true;
    this.#unfollow();
    clearTimeout(this.#askTimer);
    clearTimeout(this.#ageTimer);
    this.#request?.abort();
  }

  /** Restarts the wait after a tally, a round or a change of the connection. */
  _follow() {
    const talliedAt = this.#options.store.talliedAt.value;
    this.#failures = 0;
    this._plan();
    this._showAge(talliedAt);
  }

  _awaited() {
    const { store, connection } = this.#options;
    const [round, state] = [store.round.value, connection.state.value]; // both, so that _follow hears of both
    return !this.#ended && state === 'open' && round && isUnsettled(round) ? round : null;
  }

  _plan() {
    clearTimeout(this.#askTimer);
    const round = this._awaited();
    if (round && !this.#request) this.#askTimer = setTimeout(() => void this._ask(round), this._wait());
  }

  _wait() {
    const { role, random } = this.#options;
    const quiet = role === 'player' ? PLAYER_QUIET_MS * (1 + random()) : QUIET_MS;
    return quiet * 2 ** Math.min(this.#failures, MOST_DOUBLINGS);
  }

  /** @param {Round} round */
  async _ask(round) {
    const request = this.#request = new AbortController();
    const deadline = setTimeout(() => request.abort(), DEADLINE_MS);
    try {
      const answer = await this.#options.read(round.id, request.signal);
      // A round that came meanwhile is newer than this answer.
      if (!this.#ended && this.#options.store.round.value === round) this.#options.store.read(answer);
    } catch {
      this.#failures++;
    } finally {
      clearTimeout(deadline);
      this.#request = null;
      this._plan();
    }
  }

  /** @param {number} talliedAt */
  _showAge(talliedAt) {
    clearTimeout(this.#ageTimer);
    const passed = this.#options.stamp() - talliedAt;
    const awaited = this._awaited();
    this.age.value = awaited && passed >= OLD_MS ? Math.floor(passed / 1000) : 0;
    if (awaited) this.#ageTimer = setTimeout(() => this._showAge(talliedAt), passed < OLD_MS ? OLD_MS - passed : 1000);
  }
}

/** @param {Round} round */
const isUnsettled = ({ phase, frozen }) => !frozen && (phase === 'countdown' || phase === 'raining' || phase === 'closed');

/**
 * Shows that the tally is old. It is no live region, since it changes every second.
 * @param {{refresher: TallyRefresher}} props
 */
export function TallyAge({ refresher }) {
  const seconds = refresher.age.value;
  return seconds > 0 && html`<span class="tally-age" data-test="tally-age" data-seconds=${seconds}>${t('tally.age', { n: seconds })}</span>`;
}
