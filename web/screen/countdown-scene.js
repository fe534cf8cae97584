import { CountdownRing } from '../shared/countdown-ring.js';
import { t } from '../shared/i18n.js';
import { money } from '../shared/money.js';
import { HoldBanner } from '../shared/hold-banner.js';
import { html } from '../shared/view.js';
import { JoinCorner } from './join-corner.js';

/** @import {Live} from '../shared/live-room.js' */

/** @param {{live: Live, code: string}} props */
export function CountdownScene({ live, code }) {
  const { round, moment } = live.store;
  if (!round.value) return null;
  const { title, total_cents: total, packets, starts_at: start, countdown_ms: countdown } = round.value;
  return html`<main class="soon">
    <h2 class="soon-title">${title ? html`<bdi>${title}</bdi>` : t('countdown.title')}</h2>
    <p class="soon-stake">${t('screen.stake', { total: money(total), n: packets })}</p>
    <${HoldBanner} round=${round.value} />
    <${CountdownRing} until=${start} now=${moment.value} total=${countdown} label=${t('countdown.label')} />
    <${JoinCorner} code=${code} />
  </main>`;
}
