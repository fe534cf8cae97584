import { money } from './money.js';
import { html } from './view.js';

/**
 * An amount. Its cents stand in data-cents, whatever the language.
 * @param {{cents: number, test?: string, class?: string}} props
 */
export const Money = ({ cents, test, class: classes = '' }) =>
  html`<span class="money ${classes}" data-test=${test} data-cents=${cents}>${money(cents)}</span>`;
