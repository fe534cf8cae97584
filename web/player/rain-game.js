import { t } from '../shared/i18n.js';
import { Effects } from './effects.js';
import { FrameTimes } from './frame-times.js';
import { packetWidth, pick, dropPlace, dropPlaces } from './drop-geometry.js';
import { drawSprites, MARGIN } from './sprites.js';
import { Tapping } from './tapping.js';

/** @import {Live} from '../shared/live-room.js' */
/** @import {Round} from '../shared/messages.js' */
/** @import {Place, Scene} from './drop-geometry.js' */
/** @import {Sprites} from './sprites.js' */

/** More pixels than this cost frames on phones and nobody sees them. */
const MOST_DEVICE_PIXELS = 3;
/** A fallen drop is forgotten this long after it left the screen. */
const FORGET_MS = 8000;

/** The falling of one round's drops on a canvas, by the server's clock. */
export class Rain {
  #canvas;
  #pen;
  #live;
  #round;
  /** @type {Scene} */
  #scene = { width: 0, height: 0 };
  #ratio = 1;
  /** @type {Sprites|null} */
  #sprites = null;
  #effects;
  frameWork = new FrameTimes();
  #frame = 0;
  #resized;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {Live} live
   * @param {Round} round a started one
   */
  constructor(canvas, live, round) {
    this.#canvas = canvas;
    this.#pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    this.#live = live;
    this.#round = round;
    this.#effects = new Effects();
    this.tapping = new Tapping(live, round.id, this.#effects, (drop) => this._placeNow(drop));
    this.#resized = new ResizeObserver(() => this._fit());
    this.#resized.observe(canvas);
    this._fit();
    canvas.addEventListener('pointerdown', this.#touched);
    this._next();
  }

  stop() {
    cancelAnimationFrame(this.#frame);
    this.#resized.disconnect();
    this.#canvas.removeEventListener('pointerdown', this.#touched);
    this.tapping.stop();
  }

  /** The drops that can be tapped right now, nearest last. */
  places() {
    const now = performance.now();
    return this._falling().filter(({ drop }) => this.tapping.log.mayTap(drop.drop, now));
  }

  /** Milliseconds since the round's start. */
  _elapsed() {
    return this.#live.clock.now() - this.#round.starts_at;
  }

  _falling() {
    const elapsed = this._elapsed();
    const places = dropPlaces(this.#live.store.drops.values(), elapsed, this.#scene);
    return places.filter(({ drop }) => !this.tapping.log.isDone(drop.drop));
  }

  /** @param {number} id */
  _placeNow(id) {
    const drop = this.#live.store.drops.get(id);
    return drop ? dropPlace(drop, this._elapsed(), this.#scene) : null;
  }

  #touched = (/** @type {PointerEvent} */ event) => {
    event.preventDefault();
    if (event.button !== 0) return;
    const box = this.#canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    this.tapping.touch(x, y, pick(this.places(), x, y));
  };

  _fit() {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const ratio = Math.min(devicePixelRatio || 1, MOST_DEVICE_PIXELS);
    if (width === this.#scene.width && height === this.#scene.height && ratio === this.#ratio) return;
    this.#scene = { width, height };
    this.#ratio = ratio;
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    this.#sprites = drawSprites(packetWidth(this.#scene) * ratio * 1.16, t('rain.lucky_words').split(' '));
  }

  _next() {
    this.#frame = requestAnimationFrame(() => {
      this.frameWork.measure(() => this._draw());
      this._next();
    });
  }

  _draw() {
    const sprites = this.#sprites;
    if (!sprites) return;
    const now = performance.now();
    const pen = this.#pen;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    for (const place of this._falling()) this._drawPlace(place, sprites, now);
    pen.setTransform(this.#ratio, 0, 0, this.#ratio, 0, 0);
    this.#effects.draw(pen, now, sprites.coin, this.#scene.width);
    this._forget();
  }

  /** @param {Place} place @param {Sprites} sprites @param {number} now */
  _drawPlace({ drop, x, y, width, height, angle }, sprites, now) {
    const pen = this.#pen;
    const waiting = this.tapping.log.isPending(drop.drop, now);
    const sprite = drop.kind === 'bomb' ? sprites.bomb : sprites.packets[drop.drop % sprites.packets.length];
    const scale = (waiting ? 0.9 : 1) * this.#ratio;
    const cos = Math.cos(angle) * scale;
    const sin = Math.sin(angle) * scale;
    const margin = width * MARGIN;
    pen.setTransform(cos, sin, -sin, cos, x * this.#ratio, y * this.#ratio);
    pen.globalAlpha = waiting ? 0.6 : 1;
    pen.drawImage(sprite, -width / 2 - margin, -height / 2 - margin, width + 2 * margin, height + 2 * margin);
    pen.globalAlpha = 1;
  }

  _forget() {
    const { drops } = this.#live.store;
    const oldest = this._elapsed() - FORGET_MS;
    for (const [id, drop] of drops) {
      if (drop.at_ms > oldest) return;
      drops.delete(id);
    }
  }
}
