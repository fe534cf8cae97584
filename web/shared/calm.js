import { effect, signal } from '../vendor/signals-core.js';
import { recall, remember } from './remembered.js';

const NAME = 'calm';
const wish = globalThis.matchMedia?.('(prefers-reduced-motion: reduce)');

/**
 * Calm mode: nothing moves by itself, and the game is a grid of buttons. What the device says of motion decides until the
 * switch was used, then the switch does.
 */
export const calm = signal(initial());

/** @param {boolean} next */
export function setCalm(next) {
  calm.value = next;
  remember(NAME, String(next));
}

function initial() {
  const chosen = recall(NAME);
  return chosen === null ? Boolean(wish?.matches) : chosen === 'true';
}

wish?.addEventListener('change', () => {
  if (recall(NAME) === null) calm.value = wish.matches;
});

if (globalThis.document) effect(() => { document.documentElement.dataset.calm = String(calm.value); });
