import { calm } from './calm-mode.js';
import { useLayoutEffect, useRef } from './view.js';

const MOVE_MS = 450;

/** @typedef {Map<string, {x: number, y: number}>} Places of children by their data-key, within their parent, as one sees them */

/**
 * Lets the children of an element move to their new places instead of jumping there. Children are known by data-key; new
 * ones fade in. A move that is still under way goes on from where it is.
 * @returns {{current: HTMLElement|null}} the ref of the element
 */
export function useMovingChildren() {
  const parent = useRef(/** @type {HTMLElement|null} */ (null));
  const before = measurePlaces(parent.current); // while rendering, the children are still as they were
  useLayoutEffect(() => {
    if (!parent.current || before.size === 0 || calm.value) return;
    const children = listChildren(parent.current);
    for (const child of children) for (const running of child.getAnimations()) running.cancel();
    const now = measurePlaces(parent.current);
    for (const child of children) move(child, before, now);
  });
  return parent;
}

/** @param {HTMLElement} parent */
const listChildren = (parent) => /** @type {HTMLElement[]} */ ([...parent.children]);

/** @param {HTMLElement|null} parent @returns {Places} */
function measurePlaces(parent) {
  /** @type {Places} */
  const places = new Map();
  if (!parent || calm.value) return places;
  const origin = parent.getBoundingClientRect();
  for (const child of listChildren(parent)) {
    const { left, top } = child.getBoundingClientRect();
    places.set(child.dataset.key ?? '', { x: left - origin.left, y: top - origin.top });
  }
  return places;
}

/** @param {HTMLElement} child @param {Places} before @param {Places} now */
function move(child, before, now) {
  const key = child.dataset.key ?? '';
  const from = before.get(key);
  const to = now.get(key);
  if (!from) {
    child.animate([{ opacity: 0 }, { opacity: 1 }], { duration: MOVE_MS, easing: 'ease-in' });
  } else if (to && (from.x !== to.x || from.y !== to.y)) {
    child.animate([{ transform: `translate(${from.x - to.x}px, ${from.y - to.y}px)` }, { transform: 'none' }], { duration: MOVE_MS, easing: 'cubic-bezier(0.2, 0.8, 0.2, 1)' });
  }
}
