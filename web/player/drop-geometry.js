/** Where drops are at a moment, and which one a finger means. Pure: the same input gives the same place on every phone. */

/** @import {Drop} from '../shared/messages.js' */

/** @typedef {{width: number, height: number}} Scene in CSS px */
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
/** A finger is wide: packets are hit this far beyond their edge. */
const FINGER_PX = 20;
/** A bomb's ball, as a part of its width. */
const BOMB_RADIUS = 0.44;

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
export function dropPlace(drop, elapsed, scene) {
  const age = elapsed - drop.at_ms;
  if (!(age >= 0 && age <= FALL_MS)) return null;
  const depth = trait(drop.drop, 1);
  const width = packetWidth(scene) * (0.84 + 0.32 * depth);
  const height = drop.kind === 'bomb' ? width : width * TALL;
  const swing = Math.sin(age / 520 + 7 * trait(drop.drop, 2));
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
export function dropPlaces(drops, elapsed, scene) {
  const places = [];
  for (const drop of drops) {
    const place = dropPlace(drop, elapsed, scene);
    if (place) places.push(place);
  }
  return places.sort((a, b) => a.depth - b.depth);
}

/**
 * A touch in a drop's own upright frame, as distances from its centre.
 * @param {Place} place
 * @param {number} x
 * @param {number} y
 */
function within({ x: centreX, y: centreY, angle }, x, y) {
  const dx = x - centreX;
  const dy = y - centreY;
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  return { across: Math.abs(dx * cos + dy * sin), along: Math.abs(dy * cos - dx * sin), far: Math.hypot(dx, dy) };
}

/**
 * Whether a touch is on what can be seen of the drop.
 * @param {Place} place
 * @param {number} x
 * @param {number} y
 */
export function covers(place, x, y) {
  const { across, along, far } = within(place, x, y);
  if (place.drop.kind === 'bomb') return far <= place.width * BOMB_RADIUS;
  return across <= place.width / 2 && along <= place.height / 2;
}

/**
 * How far beside a packet a touch is, in px; Infinity where a finger's width no longer reaches. A bomb is never hit by a
 * touch beside it, so that nobody is tricked into one.
 * @param {Place} place
 * @param {number} x
 * @param {number} y
 */
function beside(place, x, y) {
  if (place.drop.kind === 'bomb') return Infinity;
  const { across, along } = within(place, x, y);
  const gap = Math.max(across - place.width / 2, along - place.height / 2);
  return gap <= FINGER_PX ? gap : Infinity;
}

/**
 * The drop that a touch means: the topmost one under it, else the nearest packet within a finger's width, else null.
 * @param {Place[]} places topmost last
 * @param {number} x
 * @param {number} y
 * @returns {Place|null}
 */
export function pick(places, x, y) {
  const touched = places.filter((place) => covers(place, x, y));
  if (touched.length > 0) return touched[touched.length - 1];
  let nearest = null;
  let least = Infinity;
  for (const place of places) {
    const gap = beside(place, x, y);
    if (gap < least) {
      nearest = place;
      least = gap;
    }
  }
  return nearest;
}
