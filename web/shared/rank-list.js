import { t } from './i18n.js';
import { Money } from './money-text.js';
import { useMovingChildren } from './moving-list.js';
import { Name } from './name-text.js';
import { html } from './view.js';

/** @import {Rank} from './messages.js' */

/**
 * The head of the leaderboard. Rows move when ranks change.
 * @param {{ranks: Rank[], own?: string, from?: number, to?: number}} props own: the player to mark; from, to: the ranks shown
 */
export function RankList({ ranks, own = '', from = 1, to = Infinity }) {
  const list = useMovingChildren();
  const shown = ranks.filter(({ rank }) => rank >= from && rank <= to);
  if (shown.length === 0) return html`<p class="empty">${t('ranks.empty')}</p>`;
  return html`<ol class="ranks" start=${from} ref=${list}>
    ${shown.map(({ rank, player, nickname, cents }) => html`
      <li key=${player} data-key=${player} class="rank ${player === own ? 'rank-own' : ''}" data-test="rank" data-rank=${rank}>
        <span class="rank-number rank-${rank}">${rank}</span>
        <${Name} text=${nickname} />
        <${Money} cents=${cents} />
      </li>`)}
  </ol>`;
}
