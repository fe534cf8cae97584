import { t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { Name } from '../shared/name.js';
import { RankList } from '../shared/rank-list.js';
import { html } from '../shared/view.js';
import { JoinCorner } from './join-corner.js';

/** @import {Round, Tally} from '../shared/messages.js' */

/** As they stand on a podium: second, first, third. */
const STEPS = [2, 1, 3];

/**
 * After a round: the podium and the sums.
 * @param {{round: Round, tally: Tally, code: string}} props
 */
export function EndScene({ round, tally, code }) {
  return html`<main class="done">
    <header class="done-head">
      <p class="done-reason" data-test="reason" data-reason=${round.reason}>${t(`reason.${round.reason || 'time'}`)}</p>
      <h2 class="done-title">${round.title ? html`<bdi>${round.title}</bdi>` : t('screen.podium')}</h2>
      <p class="done-sum">${t('screen.given')} <${Money} cents=${tally.claimed_cents} test="claimed-cents" />
        ${' · '}<span data-test="claimed-packets" data-count=${tally.claimed_packets}>${t('packets', { n: tally.claimed_packets })}</span></p>
    </header>
    <div class="podium">
      ${STEPS.map((rank) => html`<${Step} key=${rank} rank=${rank} tally=${tally} />`)}
    </div>
    ${tally.top.length > 3 && html`<section class="panel done-rest"><${RankList} ranks=${tally.top} from=${4} /></section>`}
    <${JoinCorner} code=${code} />
  </main>`;
}

/** @param {{rank: number, tally: Tally}} props */
function Step({ rank, tally }) {
  const holder = tally.top.find((one) => one.rank === rank);
  if (!holder) return html`<div class="step step-${rank} step-empty"></div>`;
  return html`<div class="step step-${rank}" data-test="podium" data-rank=${rank}>
    <p class="step-name"><${Name} text=${holder.nickname} /></p>
    <${Money} cents=${holder.cents} class="step-money" />
    <div class="step-block"><span class="rank-number rank-${rank}">${rank}</span></div>
  </div>`;
}
