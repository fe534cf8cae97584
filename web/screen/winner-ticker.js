import { t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { useMovingChildren } from '../shared/moving-list.js';
import { Name } from '../shared/name-text.js';
import { html } from '../shared/view.js';

/** @import {Claim} from '../shared/messages.js' */

/**
 * The newest wins in one line: each comes in on the left and pushes the others on.
 * @param {{winners: Claim[]}} props newest first
 */
export function WinnerTicker({ winners }) {
  const line = useMovingChildren();
  if (winners.length === 0) return html`<p class="ticker-empty">${t('winners.empty')}</p>`;
  return html`<ul class="ticker" ref=${line} aria-label=${t('winners.title')}>
    ${winners.map(({ number, nickname, cents }) => html`
      <li key=${number} data-key=${number} class="ticker-win" data-test="winner" data-number=${number}>
        <${Name} text=${nickname} /><${Money} cents=${cents} />
      </li>`)}
  </ul>`;
}
