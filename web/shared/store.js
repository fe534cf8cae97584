import { batch, computed, signal } from '../vendor/signals-core.js';
import { isOutdated, stageAt, untilNextTick } from './phase.js';

/** @import {Claim, ClaimMade, Drop, Notice, Refused, Result, Room, Round, ServerMessage, Tally, Welcome, You} from './messages.js' */
/** @import {Clock} from './clock.js' */

/** Added to timers, which may fire a little early. */
const TICK_SLACK_MS = 5;

/** For this long after a read over HTTP, messages may be older than it. */
const OVERTAKEN_MS = 5_000;

/** The state of a room, as signals. receive() applies messages in order. */
export class Store {
  /** @type {import('../vendor/signals-core.js').Signal<Room|null>} */
  room = signal(null);
  /** @type {import('../vendor/signals-core.js').Signal<You|null>} */
  you = signal(null);
  /** @type {import('../vendor/signals-core.js').Signal<Round|null>} */
  round = signal(null);
  /** This player's claims of the round, in the order in which they were won. @type {import('../vendor/signals-core.js').Signal<Claim[]>} */
  claims = signal([]);
  /** The latest tally, of whatever round. @type {import('../vendor/signals-core.js').Signal<Tally|null>} */
  tally = signal(null);
  /** When the last tally of the shown round came, or else the round itself: a stamp of the page's monotonic clock, in ms. */
  talliedAt = signal(0);
  /** Server time, renewed at each full second of the round and with each message. */
  moment = signal(NaN);
  /** Whether this page was there while the round could be played. */
  witnessed = signal(false);

  ownCents = computed(() => this.claims.value.reduce((sum, claim) => sum + claim.cents, 0));
  online = computed(() => this.tally.value?.online ?? 0);
  arrivals = computed(() => this.tally.value?.arrivals ?? []);
  stage = computed(() => stageAt(this.round.value, this.moment.value));
  /** The tally if it is of the round shown, else null. */
  roundTally = computed(() => (this.tally.value && this.tally.value.round === this.round.value?.id ? this.tally.value : null));

  /** The drops of the round by their id. Not a signal: the rain reads it once a frame. @type {Map<number, Drop>} */
  drops = new Map();
  /** Every drop of the round that came, by its id; those that fell stay. @type {Map<number, Drop>} */
  received = new Map();

  #clock;
  /** When a tally was last read over HTTP, as a stamp. */
  #readAt = -Infinity;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #timer;
  /** @type {Set<(message: Result|ClaimMade|Notice|Refused) => void>} */
  #listeners = new Set();

  /** @param {Clock} clock */
  constructor(clock) {
    this.#clock = clock;
  }

  /**
   * Calls back for each message that is an event rather than a state: results, claims, notices, errors.
   * @param {(message: Result|ClaimMade|Notice|Refused) => void} listener
   * @returns {() => void} stops it
   */
  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @param {ServerMessage} message */
  receive(message) {
    batch(() => {
      this._apply(message);
      this._tick();
    });
  }

  /**
   * Takes what the server answered over HTTP about the shown round. What is older than what is known changes nothing.
   * @param {{round: Round, tally: Tally}} answer
   */
  read({ round, tally }) {
    if (round.id !== this.round.value?.id) return;
    batch(() => {
      this._changeRound(round);
      this._takeRead(tally);
      this._tick();
    });
  }

  /** Renews the moment now, as after a sleep. */
  refresh() {
    this._tick();
  }

  stop() {
    clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  /** @param {ServerMessage} message */
  _apply(message) {
    switch (message.type) {
      case 'welcome': return this._welcome(message);
      case 'round': return this._changeRound(message.round);
      case 'drops': return this._addDrops(message.round, message.drops);
      case 'tally': return this._takeTally(message, false);
      case 'result': this._takeResult(message); return this._tell(message);
      case 'claim': this._addClaim(message.claim); return this._tell(message);
      case 'pong': return this.#clock.pong(message.sent, message.now);
      case 'notice': case 'error': return this._tell(message);
    }
  }

  /** @param {Welcome} welcome */
  _welcome(welcome) {
    this.#clock.hint(welcome.now);
    this.you.value = welcome.you;
    this.room.value = welcome.room;
    if (welcome.round) this._changeRound(welcome.round);
    else this._forgetRound(null);
    for (const claim of welcome.claims) this._addClaim(claim);
    this._addDrops(welcome.round?.id ?? '', welcome.drops);
    this._takeTally(welcome.tally, true);
  }

  /** @param {Round} round */
  _changeRound(round) {
    if (isOutdated(this.round.value, round)) return;
    if (round.id !== this.round.value?.id) this._forgetRound(round);
    this.round.value = round;
    if (stageAt(round, this.#clock.now()) !== 'closed') this.witnessed.value = true;
  }

  /** @param {Round|null} next */
  _forgetRound(next) {
    this.round.value = next;
    this.claims.value = [];
    this.witnessed.value = false;
    this.drops.clear();
    this.received.clear();
    this.talliedAt.value = this.#clock.stamp();
  }

  /** @param {string} round @param {Drop[]} drops */
  _addDrops(round, drops) {
    if (round !== this.round.value?.id) return;
    for (const drop of drops) {
      this.drops.set(drop.drop, drop);
      this.received.set(drop.drop, drop);
    }
  }

  /**
   * Older tallies are ignored. A welcome of a lower epoch is believed: the server began anew.
   * @param {Tally} tally
   * @param {boolean} isWelcome
   */
  _takeTally(tally, isWelcome) {
    const known = this.tally.value;
    if (known && this._isOld(known, tally, isWelcome)) return;
    this.tally.value = tally;
    const again = known?.epoch === tally.epoch && known.serial === tally.serial; // as a welcome has what the instance heard last
    if (!again && tally.round === this.round.value?.id) this.talliedAt.value = this.#clock.stamp();
  }

  /** @param {Tally} known @param {Tally} tally @param {boolean} isWelcome */
  _isOld(known, tally, isWelcome) {
    if (tally.epoch !== known.epoch) return tally.epoch < known.epoch && !isWelcome;
    if (tally.serial < known.serial) return true;
    const overtaken = tally.serial === known.serial || this.#clock.stamp() - this.#readAt < OVERTAKEN_MS;
    return overtaken && hasFewerClaims(tally, known);
  }

  /**
   * A tally over HTTP is counted for the response, but has the epoch and serial of the last tally that its instance received (0:
   * none of this round). So the number of claims, which only grows, tells whether it is newer.
   * @param {Tally} tally
   */
  _takeRead(tally) {
    const known = this.tally.value;
    if (tally.round !== this.round.value?.id || (known && hasFewerClaims(tally, known))) return;
    this.tally.value = known && isBehind(tally, known) ? withHeard(tally, known) : tally;
    this.#readAt = this.talliedAt.value = this.#clock.stamp();
  }

  /** @param {Result} result */
  _takeResult({ round, drop, outcome, cents, number }) {
    if (outcome !== 'won' && outcome !== 'duplicate') return;
    this._addClaim({ round, drop, cents, number, player: this.you.value?.player ?? '', nickname: '' });
  }

  /** @param {Claim} claim */
  _addClaim(claim) {
    if (claim.round !== this.round.value?.id) return;
    const others = this.claims.value.filter((known) => known.drop !== claim.drop);
    this.claims.value = [...others, claim].sort((a, b) => a.number - b.number);
  }

  /** @param {Result|ClaimMade|Notice|Refused} message */
  _tell(message) {
    for (const listener of this.#listeners) listener(message);
  }

  _tick() {
    const now = this.#clock.now();
    this.moment.value = now;
    clearTimeout(this.#timer);
    const wait = untilNextTick(this.round.value, now);
    if (wait > 0) this.#timer = setTimeout(() => this._tick(), wait + TICK_SLACK_MS);
  }
}

/** Whether a tally counts fewer claims of the same round than another. @param {Tally} tally @param {Tally} other */
const hasFewerClaims = (tally, other) => tally.round === other.round && tally.claimed_packets < other.claimed_packets;

/** Whether a tally's instance had heard less than another's. @param {Tally} tally @param {Tally} other */
const isBehind = (tally, other) => tally.epoch < other.epoch || (tally.epoch === other.epoch && tally.serial < other.serial);

/** The counts of a tally, with what only instances tell each other from another one. @param {Tally} counted @param {Tally} heard @returns {Tally} */
function withHeard(counted, heard) {
  const { epoch, serial, online, at, taps, arrivals } = heard;
  return { ...counted, epoch, serial, online, ...(heard.round === counted.round && { at, taps, arrivals }) };
}
