import { t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { secondsLeft } from '../shared/phase.js';
import { RankList } from '../shared/rank-list.js';
import { html } from '../shared/view.js';
import { WinnerList } from '../shared/winner-list.js';
import { JoinCorner } from './join-corner.js';
import { Sky } from './sky.js';

/** @import {Live} from '../shared/live.js' */

/**
 * While it rains: where the money goes.
 * @param {{live: Live, code: string}} props
 */
export function PlayingScene({ live, code }) {
  const { round, moment, roundTally: tally } = live.store;
  if (!round.value) return null;
  const { title, total_cents: total, packets, ends_at: end, frozen } = round.value;
  const claimed = tally.value?.claimed_packets ?? 0;
  const left = tally.value?.left_packets ?? packets;
  return html`<${Sky} live=${live} /><main class="play">
    <section class="play-middle">
      <h2 class="play-title">${title ? html`<bdi>${title}</bdi>` : t('screen.raining')}</h2>
      ${frozen && html`<p class="play-frozen" data-test="frozen">${t('verdict.frozen')}</p>`}
      <p class="play-label">${t('screen.claimed')}</p>
      <${Money} cents=${tally.value?.claimed_cents ?? 0} test="claimed-cents" class="play-claimed" />
      <div class="play-bar" role="img" aria-label=${t('totals.of', { part: claimed, all: packets })}>
        <div class="play-fill" style=${{ transform: `scaleX(${packets > 0 ? claimed / packets : 0})` }}></div>
      </div>
      <dl class="play-facts">
        <div><dt>${t('totals.claimed_packets')}</dt><dd data-test="claimed-packets" data-count=${claimed}>${t('totals.of', { part: claimed, all: packets })}</dd></div>
        <div><dt>${t('screen.left')}</dt><dd><${Money} cents=${tally.value?.left_cents ?? total} test="left-cents" /></dd></div>
        <div><dt>${t('totals.left_packets')}</dt><dd data-test="left-packets" data-count=${left}>${t('count', { count: left })}</dd></div>
        <div class="play-time"><dt>${t('hud.seconds')}</dt><dd data-test="seconds">${secondsLeft(end, moment.value)}</dd></div>
      </dl>
    </section>
    <section class="panel play-ranks"><h3>${t('ranks.title')}</h3><${RankList} ranks=${tally.value?.top ?? []} /></section>
    <section class="panel play-winners"><h3>${t('winners.title')}</h3><${WinnerList} winners=${tally.value?.winners ?? []} /></section>
    <${JoinCorner} code=${code} />
  </main>`;
}
