import { t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { money } from '../shared/money.js';
import { html, useState } from '../shared/view.js';

/** @import {Claim} from '../shared/messages.js' */

const SHOWN_AT_ONCE = 100;

/**
 * Every packet's amount in the order in which they were given out; own ones are marked and come first.
 * @param {{amounts: number[], claims: Claim[]}} props
 */
export function Amounts({ amounts, claims }) {
  const [shown, setShown] = useState(SHOWN_AT_ONCE);
  const own = new Set(claims.map(({ number }) => number));
  const left = Math.max(0, amounts.length - shown);
  const wide = { '--letters': money(amounts.reduce((most, cents) => Math.max(most, cents), 0)).length };
  return html`<section class="card check-card">
    <h2 class="section-title">${t('fair.amounts')}</h2>
    ${claims.length > 0 && html`<ol class="amounts amounts-own" style=${wide}>${claims.map(({ number, cents }) => html`<${Amount} key=${number} number=${number} cents=${cents} own />`)}</ol>`}
    <ol class="amounts" style=${wide}>${amounts.slice(0, shown).map((cents, i) => html`<${Amount} key=${i} number=${i + 1} cents=${cents} own=${own.has(i + 1)} />`)}</ol>
    ${left > 0 && html`<button type="button" class="button button-plain" data-test="more-amounts" onClick=${() => setShown(shown + 5 * SHOWN_AT_ONCE)}>${t('fair.more', { n: left })}</button>`}
  </section>`;
}

/** @param {{number: number, cents: number, own: boolean}} props */
const Amount = ({ number, cents, own }) => html`<li class="amount ${own ? 'amount-own' : ''}" data-test="amount" data-number=${number}>
  <span class="amount-number">${t('own.number', { number })}</span><${Money} cents=${cents} />${own && html`<span class="visually-hidden">${t('fair.mine')}</span>`}
</li>`;
