import { CountdownRing } from '../shared/countdown-ring.js';
import { t } from '../shared/i18n.js';
import { html, useEffect, useRef, useState } from '../shared/view.js';
import { pick } from './geometry.js';
import { Hud } from './hud.js';
import { Rain } from './rain.js';

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
    exposeDrops(falling);
    return () => falling.stop();
  }, [round?.id, round?.starts_at]);
  return html`<main class="rain-page">
    <canvas class="rain" ref=${canvas} data-test="rain" aria-label=${t('rain.label')}></canvas>
    ${live.store.stage.value === 'countdown' ? html`<${Countdown} live=${live} />` : html`<${Hud} live=${live} />`}
    ${rain && html`<${Verdict} rain=${rain} /><${Held} rain=${rain} />`}
  </main>`;
}

/** @param {{live: Live}} props */
function Countdown({ live }) {
  const { round, moment } = live.store;
  if (!round.value) return null;
  return html`<div class="countdown">
    <h1 class="countdown-title">${round.value.title ? html`<bdi>${round.value.title}</bdi>` : t('countdown.title')}</h1>
    <${CountdownRing} until=${round.value.starts_at} now=${moment.value} total=${round.value.countdown_ms} label=${t('countdown.label')} />
    <p class="countdown-hint">${t('countdown.hint')}</p>
    ${round.value.bomb_percent > 0 && html`<p class="countdown-hint">${t('countdown.bombs')}</p>`}
  </div>`;
}

/** @param {{rain: Rain}} props */
function Verdict({ rain }) {
  const verdict = rain.tapping.verdict.value;
  return verdict && html`<p class="verdict" data-test="verdict" data-verdict=${verdict} role="status">${t(`verdict.${verdict}`)}</p>`;
}

/** @param {{rain: Rain}} props */
function Held({ rain }) {
  return rain.tapping.heldUntil.value > 0 && html`<div class="held" data-test="held" role="status">
    <p class="held-words">${t('rain.held')}</p>
    <div class="held-bar"></div>
  </div>`;
}

/**
 * For tests and the curious: window.redrain.drops() lists the drops that a touch of their centre would tap right now, with
 * that centre in CSS px of the viewport. Read-only.
 * @param {Rain} rain
 */
function exposeDrops(rain) {
  const drops = () => {
    const places = rain.places();
    return places.filter((place) => pick(places, place.x, place.y) === place)
      .map(({ drop, x, y, width, height }) => ({ ...drop, x, y, width, height }));
  };
  Object.assign(window, { redrain: Object.freeze({ drops }) });
}
