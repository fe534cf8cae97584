import { effect, signal } from '../vendor/signals-core.js';
import { recall, remember } from './device-settings.js';

const NAME = 'calm';
const wish = globalThis.matchMedia?.('(prefers-reduced-motion: reduce)');

/**
 * Calm mode: no animations, and the game is a grid of buttons. By default as the device's prefers-reduced-motion.
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
