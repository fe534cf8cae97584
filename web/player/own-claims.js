import { t } from '../shared/i18n.js';
import { money } from '../shared/money.js';
import { Money } from '../shared/money-text.js';
import { html } from '../shared/view.js';

/** @import {Claim} from '../shared/messages.js' */

/**
 * This player's packets of the round: closed until opened, one by one or all at once.
 * @param {{claims: Claim[], opened: Set<number>, open: (drops: number[]) => void}} props opened: the drops of those that are open
 */
export function OwnClaims({ claims, opened, open }) {
  const closed = claims.filter(({ drop }) => !opened.has(drop));
  return html`<section class="own">
    <div class="own-head">
      <h2 class="section-title">${t('own.title')}</h2>
      ${closed.length > 0 && html`<button type="button" class="button button-gold own-all" data-test="open-all" onClick=${() => open(closed.map(({ drop }) => drop))}>${t('own.open_all')}</button>`}
    </div>
    <ul class="own-list">
      ${claims.map(({ drop, cents }, index) => html`
        <li key=${drop} class="own-claim" style=${{ '--letters': money(cents).length }} data-test="claim" data-drop=${drop} data-cents=${cents}>
          ${opened.has(drop) ? html`<span class="own-open"><span class="own-number">${t('own.number', { number: index + 1 })}</span><${Money} cents=${cents} /></span>`
            : html`<button type="button" class="own-closed" data-test="open" aria-label=${t('own.open', { number: index + 1 })} onClick=${() => open([drop])}>
                <span class="own-seal" aria-hidden="true">${t('own.seal')}</span></button>`}
        </li>`)}
    </ul>
  </section>`;
}
