import { t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { money } from '../shared/money.js';
import { html } from '../shared/view.js';

/** @import {Round, Tally} from '../shared/messages.js' */

/**
 * Where a round's money is.
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
