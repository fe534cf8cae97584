import { languageTag, t } from '../shared/i18n.js';
import { money } from '../shared/money.js';
import { html, useEffect, useMemo, useState } from '../shared/view.js';
import { LineChart } from './line-chart.js';
import { Series } from './series.js';

/** @import {Tally} from '../shared/messages.js' */

/**
 * How the active round goes: taps a second, what was won, who is there.
 * @param {{tally: Tally|null}} props
 */
export function LiveCharts({ tally }) {
  const series = useMemo(() => new Series(), []);
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
