import { t } from './i18n.js';
import { Money } from './money-text.js';
import { Name } from './name-text.js';
import { html } from './view.js';

/** @import {Claim} from './messages.js' */

/**
 * The newest claims, newest first.
 * @param {{winners: Claim[]}} props
 */
export function WinnerList({ winners }) {
  if (winners.length === 0) return html`<p class="empty">${t('winners.empty')}</p>`;
  return html`<ul class="winners">
    ${winners.map(({ number, nickname, cents }) => html`
      <li key=${number} class="winner" data-test="winner" data-number=${number}>
        <${Name} text=${nickname} />
        <${Money} cents=${cents} />
      </li>`)}
  </ul>`;
}
