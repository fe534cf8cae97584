import { calm } from '../shared/calm-mode.js';
import { t } from '../shared/i18n.js';
import { html, useEffect, useRef } from '../shared/view.js';
import { packetWidth, dropPlaces } from '../player/drop-geometry.js';
import { drawSprites, MARGIN } from '../player/sprites.js';

/** @import {Live} from '../shared/live-room.js' */

const MOST_DEVICE_PIXELS = 1.5;

/**
 * The falling drops as on the phones, behind the numbers.
 * @param {{live: Live}} props
 */
export function RainBackground({ live }) {
  const canvas = useRef(/** @type {HTMLCanvasElement|null} */ (null));
  const still = calm.value;
  useEffect(() => {
    if (!canvas.current || still) return undefined;
    return fall(canvas.current, live);
  }, [live, still]);
  return html`<canvas class="sky" ref=${canvas} aria-hidden="true"></canvas>`;
}

/** @param {HTMLCanvasElement} canvas @param {Live} live @returns {() => void} stops it */
function fall(canvas, live) {
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const { clock, store } = live;
  const ratio = Math.min(devicePixelRatio || 1, MOST_DEVICE_PIXELS);
  const scene = { width: 0, height: 0 };
  let sprites = drawSprites(100, [' ']);
  let frame = 0;

  const fit = () => {
    scene.width = canvas.clientWidth;
    scene.height = canvas.clientHeight;
    canvas.width = Math.round(scene.width * ratio);
    canvas.height = Math.round(scene.height * ratio);
    sprites = drawSprites(packetWidth(scene) * ratio * 1.16, t('rain.lucky_words').split(' '));
  };
  const draw = () => {
    frame = requestAnimationFrame(draw);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, scene.width, scene.height);
    const elapsed = clock.now() - (store.round.peek()?.starts_at ?? 0);
    for (const { drop, x, y, width, height, angle } of dropPlaces(store.drops.values(), elapsed, scene)) {
      const margin = width * MARGIN;
      pen.save();
      pen.translate(x, y);
      pen.rotate(angle);
      pen.drawImage(drop.kind === 'bomb' ? sprites.bomb : sprites.packets[drop.drop % sprites.packets.length], -width / 2 - margin, -height / 2 - margin, width + 2 * margin, height + 2 * margin);
      pen.restore();
    }
  };
  const resized = new ResizeObserver(fit);
  resized.observe(canvas);
  fit();
  draw();
  return () => {
    cancelAnimationFrame(frame);
    resized.disconnect();
  };
}
