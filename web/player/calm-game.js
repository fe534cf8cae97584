import { t } from '../shared/i18n.js';
import { signal } from '../shared/view.js';
import { CalmGrid, cellOf } from './calm-grid.js';
import { Tapping } from './tapping.js';

/** @import {Live} from '../shared/live-room.js' */
/** @import {Round} from '../shared/messages.js' */

const LOOK_EVERY_MS = 150;
const ANSWER_SHOWN_MS = 1600;

/** One round in calm mode. A place is a cell here: x is its number. */
export class CalmGame {
  grid = new CalmGrid();
  tapping;
  /** What was said last, for a screen reader and for everybody. */
  said = signal('');
  /** Changes whenever there is something else to show. */
  version = signal(0);

  #live;
  #round;
  /** What each cell answers for a moment. @type {Map<number, string>} */
  #answers = new Map();
  #timer;

  /** @param {Live} live @param {Round} round a started one */
  constructor(live, round) {
    this.#live = live;
    this.#round = round;
    this.tapping = new Tapping(live, round.id, this, (drop) => ({ x: cellOf(drop), y: 0 }));
    this.#timer = setInterval(() => this._look(), LOOK_EVERY_MS);
  }

  stop() {
    clearInterval(this.#timer);
    this.tapping.stop();
  }

  /** @param {number} cell */
  press(cell) {
    const drop = this.grid.cells[cell];
    if (!drop || !this.tapping.log.mayTap(drop.drop, performance.now())) return;
    this.tapping.touch(cell, 0, { drop, x: cell, y: 0 });
    this.version.value++;
  }

  /** @param {number} cell */
  isPending(cell) {
    const drop = this.grid.cells[cell];
    return drop !== null && this.tapping.log.isPending(drop.drop, performance.now());
  }

  /** @param {number} cell */
  answerIn(cell) {
    return this.#answers.get(cell) ?? '';
  }

  /** The answer itself is what shows here. */
  touch() {}

  /** @param {number} cell @param {number} _y @param {number} _now @param {string} text */
  win(cell, _y, _now, text) {
    this._answer(cell, text, t('calm.won', { amount: text.replace('+', '') }));
  }

  /** @param {number} cell @param {number} _y @param {number} _now @param {string} text */
  shrug(cell, _y, _now, text) {
    this._answer(cell, text, text);
  }

  /** @param {number} cell */
  explode(cell) {
    this._answer(cell, '', t('rain.held'));
  }

  /** @param {number} cell @param {string} text @param {string} said */
  _answer(cell, text, said) {
    this.said.value = said;
    this.#answers.set(cell, text);
    this.version.value++;
    setTimeout(() => {
      if (this.#answers.get(cell) === text) this.#answers.delete(cell);
      this.version.value++;
    }, ANSWER_SHOWN_MS);
  }

  _look() {
    const elapsed = this.#live.clock.now() - this.#round.starts_at;
    this.grid.update(this.#live.store.drops, elapsed, (drop) => this.tapping.log.isDone(drop));
    this.version.value++;
  }
}
