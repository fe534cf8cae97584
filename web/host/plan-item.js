import { asApiError } from '../shared/api.js';
import { languageTag, t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { showToast } from '../shared/toast.js';
import { html, useState } from '../shared/view.js';
import { planStart } from './host-api.js';
import { StartAt } from './start-at.js';

/** @import {Round} from '../shared/messages.js' */

/**
 * Actions on a draft.
 * @typedef {object} PlanActions
 * @property {(round: Round) => void} start
 * @property {(round: Round, by: number) => void} move
 * @property {(round: Round) => void} edit
 * @property {(round: Round) => void} copy
 * @property {(round: Round) => void} drop
 * @property {(round: Round) => void} rehearse
 * @property {(round: Round) => void} changed
 */

/**
 * One draft.
 * @param {{round: Round, place: number, count: number, busy: boolean, actions: PlanActions}} props place: from 1; busy: another round is active
 */
export function PlanItem({ round, place, count, busy, actions }) {
  const [planning, setPlanning] = useState(false);
  /** @param {Round|null} planned */
  const planned = (planned) => {
    setPlanning(false);
    if (planned) actions.changed(planned);
  };
  const unplan = () => planStart(round.id, 0).then((answer) => actions.changed(answer.round), (error) => showToast(asApiError(error).text, 'bad'));
  const title = round.title || t('round.untitled');
  return html`<li class="card round plan-item" data-test="round" data-round=${round.id} data-phase="draft" data-place=${place}>
    <header class="round-head"><span class="plan-place" aria-hidden="true">${place}</span>
      <h3 class="round-title"><bdi>${title}</bdi></h3>
      ${round.starts_on > 0 ? html`<span class="pill pill-countdown" data-test="planned" data-on=${round.starts_on}>${t('plan.starts', { time: time(round.starts_on) })}</span>`
        : html`<span class="pill" data-test="round-phase">${t('phase.draft')}</span>`}
      <span class="plan-arrows">
        <button type="button" class="quiet-button" data-test="move-up" disabled=${place === 1} aria-label=${t('plan.up', { title })} onClick=${() => actions.move(round, -1)}>↑</button>
        <button type="button" class="quiet-button" data-test="move-down" disabled=${place === count} aria-label=${t('plan.down', { title })} onClick=${() => actions.move(round, 1)}>↓</button>
      </span></header>
    <p class="round-facts"><${Money} cents=${round.total_cents} /> · ${t('packets', { n: round.packets })} · ${t('round.lasts', { n: Math.round(round.duration_ms / 1000) })}</p>
    ${round.miss_reason && html`<p class="field-error" role="alert" data-test="missed" data-on=${round.missed_on}>${t(`missed.${round.miss_reason}`, { time: time(round.missed_on) })}
      <button type="button" class="quiet-button" data-test="missed-seen" onClick=${unplan}>${t('action.close')}</button></p>`}
    ${round.starts_on > 0 && busy && html`<p class="field-hint">${t('plan.waits')}</p>`}
    ${planning && html`<${StartAt} round=${round} done=${planned} />`}
    <div class="round-buttons">
      <button type="button" class="button ${place === 1 ? 'button-red button-start' : 'button-plain'}" data-test="start" disabled=${busy} onClick=${() => actions.start(round)}>${t('action.start')}</button>
      ${round.starts_on > 0 ? html`<button type="button" class="button button-plain" data-test="unplan" onClick=${unplan}>${t('plan.cancel')}</button>`
        : !planning && html`<button type="button" class="button button-plain" data-test="plan" onClick=${() => setPlanning(true)}>${t('plan.set')}</button>`}
      <button type="button" class="button button-plain" data-test="edit" onClick=${() => actions.edit(round)}>${t('action.edit')}</button>
      <button type="button" class="button button-plain" data-test="to-rehearsal" onClick=${() => actions.rehearse(round)}>${t('rehearsal.title')}</button>
      <button type="button" class="button button-plain" data-test="copy-round" onClick=${() => actions.copy(round)}>${t('action.copy_round')}</button>
      <button type="button" class="button button-plain" data-test="drop" onClick=${() => actions.drop(round)}>${t('action.delete')}</button>
    </div>
  </li>`;
}

/** @param {number} ms */
const time = (ms) => new Date(ms).toLocaleString(languageTag(), { dateStyle: 'short', timeStyle: 'medium' });
