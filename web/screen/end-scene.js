import { t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { money } from '../shared/money.js';
import { Name } from '../shared/name-text.js';
import { HoldBanner } from '../shared/hold-banner.js';
import { RankList } from '../shared/rank-list.js';
import { RollingMoney } from '../shared/rolling-money.js';
import { html } from '../shared/view.js';
import { Confetti } from './confetti.js';
import { JoinCorner } from './join-corner.js';
import { TotalsBand } from './totals-band.js';

/** @import {Live} from '../shared/live-room.js' */
/** @import {Tally} from '../shared/messages.js' */

/** As they stand on a podium: second, first, third. */
const STEPS = [2, 1, 3];

/**
 * After a round: the podium and the sums. Who saw the rain sees them come up one by one, with confetti.
 * @param {{live: Live, code: string}} props
 */
export function EndScene({ live, code }) {
  const { round, roundTally, witnessed } = live.store;
  if (!round.value || !roundTally.value) return null;
  const { title, reason } = round.value;
  const tally = roundTally.value;
  return html`${witnessed.value && html`<${Confetti} key=${round.value.id} />`}
  <main class="done ${witnessed.value ? 'done-live' : ''}">
    <header class="done-head">
      <h2 class="done-title">${title ? html`<bdi>${title}</bdi>` : t('screen.podium')}</h2>
      <p class="done-sum"><span data-test="reason" data-reason=${reason}>${t(`reason.${reason || 'time'}`)}</span>
        ${' · '}${t('screen.given')} <${RollingMoney} cents=${tally.claimed_cents} test="claimed-cents" />
        ${' · '}<span data-test="claimed-packets" data-count=${tally.claimed_packets}>${t('packets', { n: tally.claimed_packets })}</span></p>
      <${HoldBanner} round=${round.value} over />
    </header>
    <div class="podium" style=${{ '--letters': money(tally.top[0]?.cents ?? 0).length }}>
      ${STEPS.map((rank) => html`<${Step} key=${rank} rank=${rank} tally=${tally} />`)}
    </div>
    ${tally.top.length > 3 && html`<section class="panel done-rest"><${RankList} ranks=${tally.top} from=${4} /></section>`}
    <footer class="done-foot"><${TotalsBand} live=${live} code=${code} /><${JoinCorner} code=${code} /></footer>
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
