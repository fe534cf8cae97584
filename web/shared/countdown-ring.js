import { secondsLeft } from './phase.js';
import { html } from './view.js';

const RADIUS = 46;
const ROUND_TRIP = 2 * Math.PI * RADIUS;

/**
 * Seconds to go within a ring that empties. The seconds change with the server's clock, the same everywhere.
 * @param {{until: number, now: number, total: number, label: string}} props moments and total in ms
 */
export function CountdownRing({ until, now, total, label }) {
  const seconds = secondsLeft(until, now);
  const full = total > 0 ? Math.min((seconds * 1000) / total, 1) : 0;
  return html`<div class="ring" role="timer" aria-label=${label}>
    <svg viewBox="0 0 100 100" aria-hidden="true">
      <circle class="ring-track" cx="50" cy="50" r=${RADIUS} />
      <circle class="ring-left" cx="50" cy="50" r=${RADIUS}
        stroke-dasharray=${ROUND_TRIP} stroke-dashoffset=${ROUND_TRIP * (1 - full)} />
    </svg>
    <span class="ring-seconds" key=${seconds} data-test="countdown">${seconds}</span>
  </div>`;
}
