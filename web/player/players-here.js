import { Arrivals } from '../shared/arrivals.js';
import { t } from '../shared/i18n.js';
import { html } from '../shared/view.js';

/** @import {Live} from '../shared/live-room.js' */

/** They fill three lines on a phone. */
const MOST_NAMES = 8;

/**
 * How many players are online, and the names of the latest.
 * @param {{live: Live}} props
 */
export function PlayersHere({ live }) {
  const { arrivals, online, you } = live.store;
  const others = arrivals.value.filter(({ player }) => player !== you.value?.player).slice(0, MOST_NAMES);
  const here = Math.max(online.value, 1 + others.length); // the count may be older than one's own arrival
  const more = here - 1 - others.length;
  return html`<section class="company">
    <p class="company-count" data-test="online" data-count=${here}>${t('online', { n: here })}</p>
    ${others.length > 0 ? html`<${Arrivals} arrivals=${others} label=${t('waiting.others')} more=${more > 0 ? t('waiting.more', { n: more }) : ''} />`
      : here === 1 && html`<p class="company-none">${t('waiting.first')}</p>`}
  </section>`;
}
