import { t } from './i18n.js';
import { html } from './view.js';

/** @import {Round} from './messages.js' */

/**
 * Shows that a round is frozen, as long as it is.
 * @param {{round: Round, over?: boolean}} props over: there was nothing more to win anyway
 */
export function HoldBanner({ round, over = false }) {
  return round.frozen && html`<div class="on-hold" data-test="on-hold" data-hold=${round.hold} role="status">
    <p class="on-hold-title">${t('hold.title')}</p>
    <p>${!over && html`<span class="on-hold-part">${t('hold.wait')}</span> `}<span class="on-hold-part">${t('hold.safe')}</span></p>
  </div>`;
}
