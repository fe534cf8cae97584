import { t } from './i18n.js';
import { html } from './view.js';

/** @import {Round} from './messages.js' */

/**
 * Tells everybody that a round is on hold, for as long as it is: a notice may have come while this page was away.
 * @param {{round: Round, over?: boolean}} props over: there was nothing more to win anyway
 */
export function OnHold({ round, over = false }) {
  return round.frozen && html`<div class="on-hold" data-test="on-hold" data-hold=${round.hold} role="status">
    <p class="on-hold-title">${t('hold.title')}</p>
    <p>${!over && html`<span class="on-hold-part">${t('hold.wait')}</span> `}<span class="on-hold-part">${t('hold.safe')}</span></p>
  </div>`;
}
