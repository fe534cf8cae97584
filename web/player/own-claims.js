import { t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { html } from '../shared/view.js';

/** @import {Claim} from '../shared/messages.js' */

/**
 * This player's packets of the round.
 * @param {{claims: Claim[]}} props
 */
export function OwnClaims({ claims }) {
  return html`<section class="own">
    <h2 class="own-title">${t('own.title')}</h2>
    <ul class="own-list">
      ${claims.map(({ drop, cents }, index) => html`
        <li key=${drop} class="own-claim" data-test="claim" data-drop=${drop} data-cents=${cents}>
          <span class="own-number">${t('own.number', { number: index + 1 })}</span>
          <${Money} cents=${cents} />
        </li>`)}
    </ul>
  </section>`;
}
