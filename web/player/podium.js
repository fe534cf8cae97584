import { t } from '../shared/i18n.js';
import { money } from '../shared/money.js';
import { Money } from '../shared/money-text.js';
import { Name } from '../shared/name-text.js';
import { RankList } from '../shared/rank-list.js';
import { html } from '../shared/view.js';

/** @import {Rank} from '../shared/messages.js' */

/** As they stand: second, first, third. */
const STEPS = [2, 1, 3];

/**
 * The best three on their steps, the next ones below.
 * @param {{ranks: Rank[], own: string}} props own: the player to mark
 */
export function Podium({ ranks, own }) {
  return html`<section class="card podium-card">
    <h2 class="section-title">${t('ranks.title')}</h2>
    <ol class="steps" style=${{ '--letters': money(ranks[0]?.cents ?? 0).length }}>
      ${STEPS.map((rank) => html`<${Step} key=${rank} rank=${rank} holder=${ranks.find((one) => one.rank === rank)} own=${own} />`)}
    </ol>
    ${ranks.length > STEPS.length && html`<${RankList} ranks=${ranks} own=${own} from=${4} />`}
  </section>`;
}

/** @param {{rank: number, holder: Rank|undefined, own: string}} props */
function Step({ rank, holder, own }) {
  if (!holder) return html`<li class="stand" aria-hidden="true"></li>`;
  return html`<li class="stand ${holder.player === own ? 'stand-own' : ''}" data-test="rank" data-rank=${rank} value=${rank}>
    <span class="stand-name"><${Name} text=${holder.nickname} /></span>
    <${Money} cents=${holder.cents} />
    <span class="stand-block stand-${rank}">${rank}</span>
  </li>`;
}
