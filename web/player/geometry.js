/** Where drops are at a moment, and which one a finger means. Pure: the same input gives the same place on every phone. */

/** @import {Drop} from '../shared/messages.js' */

/** @typedef {{width: number, height: number, calm: boolean}} Scene in CSS px; calm: nothing sways or turns */
/**
 * @typedef {object} Place
 * @property {Drop} drop
 * @property {number} x centre
 * @property {number} y centre
 * @property {number} width
 * @property {number} height
 * @property {number} angle in radians
 * @property {number} depth 0 far to 1 near
 */

/** How long a drop takes from above the top edge to below the bottom edge. */
export const FALL_MS = 3200;
export const LANES = 1000;

const SMALLEST_PX = 60;
const LARGEST_PX = 116;
/** A packet's height over its width. */
const TALL = 1.34;
/** A finger is wide: packets are hit this far beyond their edge. Bombs are not, so that nobody is tricked into one. */
const FINGER_PX = 18;

/** A number in [0, 1) that a drop keeps through its fall. @param {number} drop @param {number} salt */
function trait(drop, salt) {
  const mixed = Math.imul(drop ^ (salt * 0x9e3779b1), 0x85ebca6b) >>> 0;
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}

/** The width of a packet of middle depth. @param {Scene} scene */
export function packetWidth({ width, height }) {
  return Math.min(LARGEST_PX, Math.max(SMALLEST_PX, Math.min(width * 0.19, height * 0.11)));
}

/**
 * Where a drop is, or null before and after its fall.
 * @param {Drop} drop
 * @param {number} elapsed ms since the round's start
 * @param {Scene} scene
 * @returns {Place|null}
 */
export function placeOf(drop, elapsed, scene) {
  const age = elapsed - drop.at_ms;
  if (!(age >= 0 && age <= FALL_MS)) return null;
  const depth = trait(drop.drop, 1);
  const width = packetWidth(scene) * (0.84 + 0.32 * depth);
  const height = drop.kind === 'bomb' ? width : width * TALL;
  const swing = scene.calm ? 0 : Math.sin(age / 520 + 7 * trait(drop.drop, 2));
  const margin = width * 0.62;
  return {
    drop, width, height, depth,
    x: margin + (drop.lane / (LANES - 1)) * (scene.width - 2 * margin) + swing * width * 0.08,
    y: -height / 2 + (age / FALL_MS) * (scene.height + height),
    angle: swing * 0.2,
  };
}

/**
 * All drops that are falling, farthest first, as they are to be drawn.
 * @param {Iterable<Drop>} drops
 * @param {number} elapsed
 * @param {Scene} scene
 */
export function placesOf(drops, elapsed, scene) {
  const places = [];
  for (const drop of drops) {
    const place = placeOf(drop, elapsed, scene);
    if (place) places.push(place);
  }
  return places.sort((a, b) => a.depth - b.depth);
}

/**
 * How far a touch is from a drop: 0 at its centre, 1 at the edge of what counts as hit, more outside.
 * @param {Place} place
 * @param {number} x
 * @param {number} y
 */
export function missBy(place, x, y) {
  const dx = x - place.x;
  const dy = y - place.y;
  if (place.drop.kind === 'bomb') return Math.hypot(dx, dy) / (place.width * 0.46);
  const cos = Math.cos(-place.angle);
  const sin = Math.sin(-place.angle);
  const across = Math.abs(dx * cos - dy * sin) / (place.width / 2 + FINGER_PX);
  const along = Math.abs(dx * sin + dy * cos) / (place.height / 2 + FINGER_PX);
  return Math.max(across, along);
}

/**
 * The drop that a touch means: of those hit the one hit best, or null.
 * @param {Place[]} places
 * @param {number} x
 * @param {number} y
 * @returns {Place|null}
 */
export function pick(places, x, y) {
  let best = null;
  let least = 1;
  for (const place of places) {
    const miss = missBy(place, x, y);
    if (miss <= least) {
      best = place;
      least = miss;
    }
  }
  return best;
}
