import { languageTag, t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { money } from '../shared/money.js';
import { html, useEffect, useMemo, useState } from '../shared/view.js';
import { LineChart } from './line-chart.js';
import { TallySeries } from './tally-series.js';

/** @import {Round, Tally} from '../shared/messages.js' */

/**
 * Charts of the active round: taps a second, cents won, players.
 * @param {{tally: Tally|null}} props
 */
export function LiveCharts({ tally }) {
  const series = useMemo(() => new TallySeries(), []);
  const [, redraw] = useState(0);
  useEffect(() => {
    if (tally && series.add(tally)) redraw((count) => count + 1);
  }, [tally]);
  const { times, tapsPerSecond, claimedCents, online } = series;
  return html`<div class="live-charts" data-test="charts">
    <${LineChart} test="chart-taps" title=${t('chart.taps')} now=${whole(tapsPerSecond.at(-1) ?? 0)} upTo=${times.at(-1)} times=${times} values=${tapsPerSecond} colour="--chart-taps" label=${whole} />
    <${LineChart} test="chart-claimed" title=${t('chart.claimed')} now=${money(claimedCents.at(-1) ?? 0)} upTo=${times.at(-1)} times=${times} values=${claimedCents} colour="--chart-claimed" label=${yuan} />
    <${LineChart} test="chart-online" title=${t('chart.online')} now=${whole(online.at(-1) ?? 0)} upTo=${times.at(-1)} times=${times} values=${online} colour="--chart-online" label=${whole} />
  </div>`;
}

/** @param {number} value */
const whole = (value) => Math.round(value).toLocaleString(languageTag(), { notation: value >= 10_000 ? 'compact' : 'standard' });
/** Marks of an axis only: amounts that count are never divided. @param {number} cents */
const yuan = (cents) => (cents / 100).toLocaleString(languageTag(), { notation: 'compact', maximumFractionDigits: 2 });

/**
 * How a round's budget is used.
 * @param {{round: Round, tally: Tally|null}} props
 */
export function Totals({ round, tally }) {
  const claimed = tally?.claimed_packets ?? 0;
  const left = tally?.left_packets ?? round.packets;
  return html`<div class="totals">
    <progress class="totals-bar" max=${round.packets} value=${claimed} aria-label=${t('totals.claimed')}></progress>
    <dl class="totals-list" style=${{ '--letters': money(round.total_cents).length }}>
      <div><dt>${t('totals.claimed')}</dt><dd><${Money} cents=${tally?.claimed_cents ?? 0} test="claimed-cents" /></dd></div>
      <div><dt>${t('totals.left')}</dt><dd><${Money} cents=${tally?.left_cents ?? round.total_cents} test="left-cents" /></dd></div>
      <div><dt>${t('totals.claimed_packets')}</dt><dd data-test="claimed-packets" data-count=${claimed}>${t('totals.of', { part: claimed, all: round.packets })}</dd></div>
      <div><dt>${t('totals.left_packets')}</dt><dd data-test="left-packets" data-count=${left}>${t('count', { count: left })}</dd></div>
      <div><dt>${t('totals.taps')}</dt><dd data-test="taps" data-count=${tally?.taps ?? 0}>${t('count', { count: tally?.taps ?? 0 })}</dd></div>
    </dl>
  </div>`;
}
