import { t } from '../shared/i18n.js';
import { isActive, isOutdated } from '../shared/phase.js';
import { html } from '../shared/view.js';
import { PlanItem } from './plan-item.js';

/** @import {Round} from '../shared/messages.js' */
/** @import {PlanActions} from './plan-item.js' */

/**
 * The listed rounds, with the current one as in the newest message if that is newer.
 * @param {Round[]} rounds
 * @param {Round|null} current
 */
export function withCurrent(rounds, current) {
  if (!current) return rounds;
  return rounds.map((round) => (round.id === current.id && !isOutdated(round, current) ? current : round));
}

/**
 * The active round first, then drafts, then finished rounds.
 * @param {Round[]} rounds
 */
export function sortByUrgency(rounds) {
  /** @param {Round} round */
  const urgency = (round) => (isActive(round) ? 0 : round.phase === 'draft' ? 1 : 2);
  return [...rounds].sort((a, b) => urgency(a) - urgency(b));
}

/**
 * The drafts in order.
 * @param {{drafts: Round[], busy: boolean, actions: PlanActions}} props
 */
export function PlanList({ drafts, busy, actions }) {
  if (drafts.length === 0) return null;
  return html`<section class="plan">
    <header class="plan-head"><h2>${t('plan.title')}</h2>
      ${drafts.length > 1 && html`<button type="button" class="button button-red" data-test="start-next" disabled=${busy} onClick=${() => actions.start(drafts[0])}>${t('plan.next')}</button>`}</header>
    <ol class="plan-rounds">${drafts.map((round, at) => html`<${PlanItem} key=${round.id} round=${round} place=${at + 1} count=${drafts.length} busy=${busy} actions=${actions} />`)}</ol>
  </section>`;
}
