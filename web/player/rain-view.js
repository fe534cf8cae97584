import { t } from '../shared/i18n.js';
import { HoldBanner } from '../shared/hold-banner.js';
import { html, useEffect, useRef, useState } from '../shared/view.js';
import { Countdown } from './countdown-view.js';
import { exposeTestHooks } from './test-hooks.js';
import { pick } from './drop-geometry.js';
import { BombOverlay } from './bomb-overlay.js';
import { Hud } from './hud.js';
import { Rain } from './rain-game.js';
import { TapStatus } from './tap-status.js';

/** @import {Live} from '../shared/live-room.js' */

/**
 * The rain itself, from the countdown to the end of the round.
 * @param {{live: Live}} props
 */
export function RainView({ live }) {
  const canvas = useRef(/** @type {HTMLCanvasElement|null} */ (null));
  const [rain, setRain] = useState(/** @type {Rain|null} */ (null));
  const round = live.store.round.value;
  useEffect(() => {
    if (!canvas.current || !round) return undefined;
    const falling = new Rain(canvas.current, live, round);
    setRain(falling);
    exposeTestHooks({ drops: () => reachable(falling), frameWork: () => falling.frameWork.list() });
    return () => falling.stop();
  }, [round?.id, round?.starts_at]);
  return html`<main class="rain-page ${round?.frozen ? 'rain-on-hold' : ''}">
    <canvas class="rain" ref=${canvas} data-test="rain" role="img" aria-label=${t('rain.label')}></canvas>
    ${live.store.stage.value === 'countdown' ? html`<${Countdown} live=${live} />` : html`<${Hud} live=${live} />`}
    ${round?.frozen && html`<${HoldBanner} round=${round} />`}
    ${rain && html`${!round?.frozen && html`<${TapStatus} tapping=${rain.tapping} />`}<${BombOverlay} tapping=${rain.tapping} />`}
  </main>`;
}

/** @param {Rain} rain */
function reachable(rain) {
  const places = rain.places();
  return places.filter((place) => pick(places, place.x, place.y) === place)
    .map(({ drop, x, y, width, height }) => ({ ...drop, x, y, width, height }));
}
