import { t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { RankList } from '../shared/rank-list.js';
import { html } from '../shared/view.js';
import { OwnClaims } from './own-claims.js';

/** @import {Live} from '../shared/live.js' */

/**
 * After a round: what I won, packet by packet, and where that puts me.
 * @param {{live: Live}} props
 */
export function EndView({ live }) {
  const { round, claims, ownCents, roundTally, you } = live.store;
  const top = roundTally.value?.top ?? [];
  const own = top.find(({ player }) => player === you.value?.player);
  const won = claims.value.length > 0;
  return html`<main class="end">
    <p class="end-reason" data-test="reason" data-reason=${round.value?.reason}>${t(`reason.${round.value?.reason || 'time'}`)}</p>
    <section class="end-card ${won ? 'end-won' : ''}">
      <h1 class="end-title">${t(won ? 'end.won' : 'end.nothing')}</h1>
      <${Money} cents=${ownCents.value} test="sum" class="end-sum" />
      <p class="end-note" data-test="claims-count" data-count=${claims.value.length}>${won ? t('end.packets', { n: claims.value.length }) : t('end.comfort')}</p>
      ${own && html`<p class="end-rank" data-test="own-rank" data-rank=${own.rank}>${t('end.rank', { rank: own.rank })}</p>`}
    </section>
    ${won && html`<${OwnClaims} claims=${claims.value} />`}
    ${top.length > 0 && html`<section class="card end-top">
      <h2>${t('ranks.title')}</h2>
      <${RankList} ranks=${top} own=${you.value?.player} />
    </section>`}
    <p class="end-next">${t('end.next')}</p>
  </main>`;
}
