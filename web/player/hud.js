import { t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { money } from '../shared/money.js';
import { secondsLeft } from '../shared/phase.js';
import { html } from '../shared/view.js';

/** @import {Live} from '../shared/live-room.js' */

/**
 * What one looks at in between taps: own money, seconds, what is left.
 * @param {{live: Live}} props
 */
export function Hud({ live }) {
  const { round, claims, ownCents, moment, roundTally } = live.store;
  if (!round.value) return null;
  const { cap, packets, ends_at: end } = round.value;
  const left = roundTally.value?.left_packets ?? packets;
  return html`<div class="hud" style=${{ '--letters': money(ownCents.value).length }}>
    <div class="hud-box">
      <span class="hud-label">${t('hud.own')}</span>
      <${Money} cents=${ownCents.value} test="sum" class="hud-sum" />
      <span class="hud-note" data-test="claims-count" data-count=${claims.value.length}>${t('hud.claims', { count: claims.value.length, cap })}</span>
    </div>
    <div class="hud-box hud-time">
      <span class="hud-label">${t('hud.seconds')}</span>
      <span class="hud-seconds" data-test="seconds">${secondsLeft(end, moment.value)}</span>
    </div>
    <div class="hud-box hud-left">
      <span class="hud-label">${t('hud.left')}</span>
      <span class="hud-count">${t('count', { count: left })}</span>
      <progress class="hud-bar" max=${packets} value=${left} aria-label=${t('hud.left')}></progress>
    </div>
  </div>`;
}
