import { t } from '../shared/i18n.js';
import { RollingMoney } from '../shared/rolling-money.js';
import { html, useEffect, useState } from '../shared/view.js';
import { readPastRounds, sumRounds } from './room-totals.js';

/** @import {PastRound} from '../shared/api.js' */
/** @import {Live} from '../shared/live-room.js' */

/**
 * Between rounds: the sums of all rounds.
 * @param {{live: Live, code: string}} props
 */
export function TotalsBand({ live, code }) {
  const [past, setPast] = useState(/** @type {PastRound[]} */ ([]));
  const { round, roundTally } = live.store;
  useEffect(() => void readPastRounds(code).then(setPast), [code, round.value?.id, round.value?.phase]);
  const { rounds, packets, cents } = sumRounds(past, round.value, roundTally.value);
  if (rounds === 0) return null;
  return html`<dl class="totals" data-test="totals" data-rounds=${rounds} data-packets=${packets}>
    <div><dt>${t('screen.all_rounds')}</dt><dd>${t('screen.rounds', { n: rounds })}</dd></div>
    <div><dt>${t('screen.given')}</dt><dd><${RollingMoney} cents=${cents} test="totals-cents" from=${0} /></dd></div>
    <div><dt>${t('totals.claimed_packets')}</dt><dd>${t('count', { count: packets })}</dd></div>
  </dl>`;
}
