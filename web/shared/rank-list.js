import { t } from './i18n.js';
import { Money } from './money-text.js';
import { Name } from './name.js';
import { html } from './view.js';

/** @import {Rank} from './messages.js' */

/**
 * The head of the leaderboard.
 * @param {{ranks: Rank[], own?: string, from?: number}} props own: the player to mark; from: the first rank shown
 */
export function RankList({ ranks, own = '', from = 1 }) {
  const shown = ranks.filter(({ rank }) => rank >= from);
  if (shown.length === 0) return html`<p class="empty">${t('ranks.empty')}</p>`;
  return html`<ol class="ranks" start=${from}>
    ${shown.map(({ rank, player, nickname, cents }) => html`
      <li key=${player} class="rank ${player === own ? 'rank-own' : ''}" data-test="rank" data-rank=${rank}>
        <span class="rank-number rank-${rank}">${rank}</span>
        <${Name} text=${nickname} />
        <${Money} cents=${cents} />
      </li>`)}
  </ol>`;
}
