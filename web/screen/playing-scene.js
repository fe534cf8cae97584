import { t } from '../shared/i18n.js';
import { money } from '../shared/money.js';
import { HoldBanner } from '../shared/hold-banner.js';
import { secondsLeft } from '../shared/phase.js';
import { RankList } from '../shared/rank-list.js';
import { RollingMoney } from '../shared/rolling-money.js';
import { html } from '../shared/view.js';
import { JoinCorner } from './join-corner.js';
import { RainBackground } from './rain-background.js';
import { useThrottled } from './use-throttled.js';
import { WinnerTicker } from './winner-ticker.js';

/** @import {Live} from '../shared/live-room.js' */

/** From then on the seconds want to be looked at. */
const LAST_SECONDS = 10;

/**
 * While it rains: the totals and the leaderboard.
 * @param {{live: Live, code: string}} props
 */
export function PlayingScene({ live, code }) {
  const { round, roundTally: tally } = live.store;
  if (!round.value) return null;
  const { title, total_cents: total, frozen } = round.value;
  return html`${!frozen && html`<${RainBackground} live=${live} />`}<main class="play ${frozen ? 'play-on-hold' : ''}" style=${{ '--letters': money(total).length }}>
    <section class="play-main">
      <h2 class="play-title">${title ? html`<bdi>${title}</bdi>` : t('screen.raining')}</h2>
      <${HoldBanner} round=${round.value} />
      <p class="play-label">${t('screen.claimed')}</p>
      <p class="play-claimed"><${RollingMoney} cents=${tally.value?.claimed_cents ?? 0} test="claimed-cents" /></p>
      <${Share} live=${live} />
      <${Facts} live=${live} />
    </section>
    <${Board} live=${live} />
    <footer class="play-foot"><${Wins} live=${live} /><${JoinCorner} code=${code} /></footer>
  </main>`;
}

/** A list that changes more often cannot be read. */
const REARRANGED_EVERY_MS = 1000;

/** @param {{live: Live}} props */
function Board({ live }) {
  const top = useThrottled(live.store.roundTally.value?.top, REARRANGED_EVERY_MS);
  return html`<section class="panel play-ranks"><h3>${t('ranks.title')}</h3><${RankList} ranks=${top ?? []} /></section>`;
}

/** @param {{live: Live}} props */
function Wins({ live }) {
  const winners = useThrottled(live.store.roundTally.value?.winners, REARRANGED_EVERY_MS);
  return html`<div class="play-wins"><${WinnerTicker} winners=${winners ?? []} /></div>`;
}

/** How much of the packets is gone. @param {{live: Live}} props */
function Share({ live }) {
  const { round, roundTally: tally } = live.store;
  const all = round.value?.packets ?? 0;
  const claimed = tally.value?.claimed_packets ?? 0;
  return html`<div class="play-share">
    <div class="play-bar" role="img" aria-label=${t('totals.of', { part: claimed, all })}>
      <div class="play-fill" style=${{ transform: `scaleX(${all > 0 ? claimed / all : 0})` }}></div>
    </div>
    <p class="play-count" data-test="claimed-packets" data-count=${claimed}>${t('screen.of_packets', { part: claimed, all })}</p>
  </div>`;
}

/** @param {{live: Live}} props */
function Facts({ live }) {
  const { round, moment, roundTally: tally } = live.store;
  if (!round.value) return null;
  const { total_cents: total, packets, ends_at: end } = round.value;
  const left = tally.value?.left_packets ?? packets;
  const seconds = secondsLeft(end, moment.value);
  return html`<dl class="play-facts">
    <div><dt>${t('screen.left')}</dt><dd><${RollingMoney} cents=${tally.value?.left_cents ?? total} test="left-cents" /></dd></div>
    <div><dt>${t('totals.left_packets')}</dt><dd data-test="left-packets" data-count=${left}>${t('count', { count: left })}</dd></div>
    <div class="play-time ${seconds <= LAST_SECONDS ? 'play-last' : ''}"><dt>${t('hud.seconds')}</dt><dd data-test="seconds" key=${seconds}>${seconds}</dd></div>
  </dl>`;
}
