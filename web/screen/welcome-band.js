import { Arrivals } from '../shared/arrivals.js';
import { t } from '../shared/i18n.js';
import { html } from '../shared/view.js';

/** @import {Live} from '../shared/live-room.js' */

/**
 * The names of the players who joined last.
 * @param {{live: Live}} props
 */
export function WelcomeBand({ live }) {
  const { arrivals } = live.store;
  if (arrivals.value.length === 0) return null;
  return html`<section class="welcome">
    <p class="welcome-label">${t('screen.welcome')}</p>
    <div class="welcome-names"><${Arrivals} arrivals=${arrivals.value} label=${t('screen.welcome')} /></div>
  </section>`;
}
