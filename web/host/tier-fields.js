import { t } from '../shared/i18n.js';
import { html } from '../shared/view.js';

/** @import {Form} from './settings.js' */

const MOST_TIERS = 20;

/**
 * The rows of "so many packets of this amount".
 * @param {{tiers: Form['tiers'], error: string, onChange: (tiers: Form['tiers']) => void}} props
 */
export function TierFields({ tiers, error, onChange }) {
  /** @param {number} at @param {Partial<Form['tiers'][0]>} change */
  const change = (at, change) => onChange(tiers.map((tier, index) => (index === at ? { ...tier, ...change } : tier)));
  /** @param {number} at @param {'packets'|'cents'} part */
  const input = (at, part) => html`<input class="input" data-test="tier-${part}" inputmode="decimal" autocomplete="off" maxlength="20"
    aria-label=${t(`field.tier_${part}`)} value=${tiers[at][part]}
    onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ event) => change(at, { [part]: event.currentTarget.value })} />`;
  return html`<fieldset class="field" data-field="tiers">
    <legend class="field-label">${t('field.tiers')}</legend>
    ${tiers.map((_, at) => html`<div class="tier" key=${at} data-test="tier">
      ${input(at, 'packets')}<span>${t('tier.times')}</span>${input(at, 'cents')}<span>${t('unit.yuan')}</span>
      <button type="button" class="quiet-button" disabled=${tiers.length === 1} aria-label=${t('tier.remove')} data-test="tier-remove"
        onClick=${() => onChange(tiers.filter((__, index) => index !== at))}>✕</button>
    </div>`)}
    <div><button type="button" class="button button-plain" disabled=${tiers.length >= MOST_TIERS} data-test="tier-add"
      onClick=${() => onChange([...tiers, { packets: '1', cents: '1' }])}>${t('tier.add')}</button></div>
    <span class="field-hint">${t('hint.tiers')}</span>
    ${error && html`<span class="field-error" data-test="error-tiers" role="alert">${error}</span>`}
  </fieldset>`;
}
