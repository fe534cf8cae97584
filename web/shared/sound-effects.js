import { signal } from '../vendor/signals-core.js';
import { recall, remember } from './device-settings.js';

/** @typedef {'tick'|'go'|'tap'|'won'|'missed'|'bomb'|'open'|'cheer'} Cue */

/**
 * The sounds, as ZzFX makes them: volume, randomness, frequency, attack, sustain, release, shape, curve, slide, and so on.
 * @type {Record<Cue, (number|undefined)[]>}
 */
const SOUNDS = {
  tick: [0.5, 0, 620, 0, 0.02, 0.06, 1],
  go: [0.8, 0, 523, 0.01, 0.12, 0.25, 1, 1.4, 0, 0, 262, 0.08],
  tap: [0.35, 0.05, 340, 0, 0.01, 0.05, 0, 1.8, 12],
  won: [0.8, 0.02, 880, 0, 0.05, 0.28, 1, 1.6, 0, 0, 440, 0.06, 0, 0, 0, 0, 0, 0.7, 0.04],
  missed: [0.35, 0.05, 190, 0.01, 0.02, 0.09, 1, 1.5, -4],
  bomb: [1.1, 0.1, 70, 0.01, 0.12, 0.5, 4, 1.6, -1, 0, 0, 0, 0, 1.2, 0, 0.1],
  open: [0.7, 0.03, 660, 0.01, 0.06, 0.22, 1, 1.5, 0, 0, 330, 0.05],
  cheer: [0.9, 0, 523, 0.02, 0.3, 0.5, 1, 1.4, 0, 0, 262, 0.12, 0.12],
};

/** How the device shakes with a cue, in ms. @type {Partial<Record<Cue, number|number[]>>} */
const SHAKES = { go: 60, tap: 8, won: [20, 30, 40], bomb: [120, 40, 160], open: 15 };

const NAME = 'sound';

/** One switch for what one hears and feels. */
export const sound = signal(recall(NAME) !== 'false');

/** @param {boolean} on */
export function setSound(on) {
  sound.value = on;
  remember(NAME, String(on));
}

/** @type {typeof import('../vendor/zzfx.js').ZZFX|null} */
let synth = null;
/** Samples are worked out once a cue: half of a tap's time would go into them. @type {Partial<Record<Cue, number[]>>} */
const samples = {};

/**
 * Loads the synthesizer at the first touch or key and not before: browsers let no page be heard, or shake, that nobody touched.
 * @returns {() => void} stops waiting for it
 */
export function listenForFirstTouch() {
  const gestures = ['pointerup', 'touchend', 'keydown'];
  const touched = async () => {
    if (!sound.value || navigator.userActivation?.isActive === false) return;
    stop();
    const { ZZFX } = await import('../vendor/zzfx.js').catch(() => ({ ZZFX: null }));
    synth = ZZFX;
    void synth?.audioContext.resume().catch(() => undefined);
  };
  const stop = () => gestures.forEach((type) => removeEventListener(type, touched));
  gestures.forEach((type) => addEventListener(type, touched, { passive: true }));
  return stop;
}

/** Plays a cue and shakes the device with it, unless that is switched off or nobody has touched the page. @param {Cue} cue */
export function playCue(cue) {
  if (!sound.value) return;
  if (synth?.audioContext.state === 'running') {
    samples[cue] ??= synth.buildSamples(...SOUNDS[cue]);
    synth.playSamples([/** @type {number[]} */ (samples[cue])]);
  }
  const shake = SHAKES[cue];
  if (shake && navigator.userActivation?.hasBeenActive) navigator.vibrate?.(shake);
}
