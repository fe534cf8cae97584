import { calm } from '../shared/calm-mode.js';
import { html, useEffect, useRef } from '../shared/view.js';
import { create } from '../vendor/canvas-confetti.js';

/** @import {Confetti as Cannon} from '../vendor/canvas-confetti.js' */

const COLOURS = ['#ffd980', '#f8c04e', '#fff3c4', '#ff6a6c', '#e23b46', '#ffffff'];
/** The winner is on the podium by then. */
const FIRST_AFTER_MS = 1900;
const EVERY_MS = 420;
const SALVOS = 12;

/** Confetti over the podium, for some seconds. */
export function Confetti() {
  const canvas = useRef(/** @type {HTMLCanvasElement|null} */ (null));
  useEffect(() => {
    if (!canvas.current || calm.value) return undefined;
    return celebrate(create(canvas.current, { resize: true, useWorker: false })); // a worker from a blob is against the content policy
  }, []);
  return html`<canvas class="confetti" ref=${canvas} aria-hidden="true"></canvas>`;
}

/** @param {Cannon} fire @returns {() => void} stops it */
function celebrate(fire) {
  let left = SALVOS;
  let timer = setTimeout(salvo, FIRST_AFTER_MS);
  function salvo() {
    const shared = { particleCount: 46, startVelocity: 62, spread: 70, ticks: 260, scalar: 1.6, gravity: 1.1, colors: COLOURS };
    void fire({ ...shared, angle: 60, origin: { x: 0, y: 0.9 } });
    void fire({ ...shared, angle: 120, origin: { x: 1, y: 0.9 } });
    if (--left > 0) timer = setTimeout(salvo, EVERY_MS);
  }
  return () => {
    clearTimeout(timer);
    fire.reset();
  };
}
