import { t } from '../shared/i18n.js';
import { OnHold } from '../shared/on-hold.js';
import { html, useEffect, useRef, useState } from '../shared/view.js';
import { Countdown } from './countdown.js';
import { expose } from './exposed.js';
import { pick } from './geometry.js';
import { Held } from './held.js';
import { Hud } from './hud.js';
import { Rain } from './rain.js';
import { Verdict } from './verdict.js';

/** @import {Live} from '../shared/live.js' */

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
    expose({ drops: () => reachable(falling), frameWork: () => falling.frameWork.list() });
    return () => falling.stop();
  }, [round?.id, round?.starts_at]);
  return html`<main class="rain-page ${round?.frozen ? 'rain-on-hold' : ''}">
    <canvas class="rain" ref=${canvas} data-test="rain" role="img" aria-label=${t('rain.label')}></canvas>
    ${live.store.stage.value === 'countdown' ? html`<${Countdown} live=${live} />` : html`<${Hud} live=${live} />`}
    ${round?.frozen && html`<${OnHold} round=${round} />`}
    ${rain && html`${!round?.frozen && html`<${Verdict} tapping=${rain.tapping} />`}<${Held} tapping=${rain.tapping} />`}
  </main>`;
}

/** @param {Rain} rain */
function reachable(rain) {
  const places = rain.places();
  return places.filter((place) => pick(places, place.x, place.y) === place)
    .map(({ drop, x, y, width, height }) => ({ ...drop, x, y, width, height }));
}
