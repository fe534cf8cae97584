import { committedText, coversDrops } from '../shared/fairness.js';
import { t } from '../shared/i18n.js';
import { money } from '../shared/money.js';
import { html } from '../shared/view.js';

/** @import {Claim, Drop, Round} from '../shared/messages.js' */
/** @import {Findings as Found} from './check-round.js' */

const NOTED = { same: 'fair.noted_same', other: 'fair.noted_other', none: 'fair.noted_none' };

/**
 * What the check found, in plain sentences first and in digits below.
 * @param {{round: Round, claims: Claim[], drops: Drop[], found: Found}} props drops: those that came to this page
 */
export function Findings({ round, claims, drops, found }) {
  const total = money(round.total_cents);
  return html`<section class="card check-card" data-test="findings" data-right=${found.right} data-algorithm=${round.algorithm} data-drops=${drops.length}>
    <h2 class="check-verdict ${found.right ? 'check-right' : 'check-wrong'}">${t(found.right ? 'fair.right' : 'fair.wrong')}</h2>
    <ul class="check-list">
      <${Line} ok=${found.committed} text=${t(found.committed ? 'fair.committed' : 'fair.not_committed')} />
      <${Line} ok=${found.noted === 'none' ? null : found.noted === 'same'} text=${t(NOTED[found.noted])} />
      <${Line} ok=${found.exact} text=${t(found.exact ? 'fair.exact' : 'fair.not_exact', { n: round.packets, total })} />
      ${claims.length > 0 && html`<${Line} ok=${found.wrong.length === 0} text=${t(found.wrong.length === 0 ? 'fair.own' : 'fair.not_own', { n: claims.length })} />`}
      <${Line} ok=${!found.fell ? false : drops.length > 0 || null} text=${dropsText(drops, found)} />
    </ul>
    <p class="check-covers" data-test="check-covers">${t(coversDrops(round) ? 'fair.covers_all' : 'fair.covers_amounts')}</p>
    <details class="check-how" data-test="check-how">
      <summary>${t('fair.how')}</summary>
      <p>${t('fair.how_commitment')}</p>
      <p>${t('fair.how_amounts')}</p>
      <p>${t('fair.how_drops')}</p>
      <dl class="check-digits">
        <dt>${t('fair.secret')}</dt><dd><code>${round.secret}</code></dd>
        <dt>${t('fair.text')}</dt><dd><code>${committedText(round)}</code></dd>
        <dt>${t('fair.commitment')}</dt><dd><code>${round.commitment}</code></dd>
        <dt>${t('fair.recomputed')}</dt><dd><code>${found.commitment}</code></dd>
      </dl>
    </details>
  </section>`;
}

/** @param {Drop[]} drops @param {Found} found */
function dropsText(drops, { schedule, fell }) {
  if (!fell) return t('fair.not_drops');
  if (drops.length > 0) return t('fair.drops', { n: drops.length });
  return t('fair.no_drops', { n: schedule.length, bombs: schedule.filter(({ kind }) => kind === 'bomb').length });
}

/** @param {{ok: boolean|null, text: string}} props ok: null where nothing can be said */
const Line = ({ ok, text }) => html`<li class="check-line"><span class="check-mark check-${ok === null ? 'open' : ok ? 'right' : 'wrong'}" aria-hidden="true">${ok === null ? '–' : ok ? '✓' : '✕'}</span>${text}</li>`;
