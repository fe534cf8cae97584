import { CountdownRing } from '../shared/countdown-ring.js';
import { t } from '../shared/i18n.js';
import { html } from '../shared/view.js';

/** @import {Live} from '../shared/live-room.js' */

/**
 * What comes, and when.
 * @param {{live: Live}} props
 */
export function Countdown({ live }) {
  const { round, moment } = live.store;
  if (!round.value) return null;
  const { title, starts_at: start, countdown_ms: total, bomb_percent: bombs } = round.value;
  return html`<div class="countdown">
    <h1 class="countdown-title">${title ? html`<bdi>${title}</bdi>` : t('countdown.title')}</h1>
    <${CountdownRing} until=${start} now=${moment.value} total=${total} label=${t('countdown.label')} />
    <p class="countdown-hint">${t('countdown.hint')}</p>
    ${bombs > 0 && html`<p class="countdown-hint">${t('countdown.bombs')}</p>`}
  </div>`;
}
