import { t } from '../shared/i18n.js';
import { html } from '../shared/view.js';
import { emptyForm } from './settings.js';

/** @import {Form} from './settings.js' */

/** Example rounds. */

/** @type {Record<string, Partial<Form>>} */
const PRESETS = {
  party: { total_cents: '2000', packets: '200', cap: '3', duration_ms: '60', countdown_ms: '10', drops_per_second: '8', bomb_percent: '10', pace: 'even' },
  stream: { total_cents: '500', packets: '500', cap: '1', duration_ms: '30', countdown_ms: '5', drops_per_second: '10', bomb_percent: '5', pace: 'burst' },
  test: { total_cents: '1', packets: '10', cap: '10', duration_ms: '15', countdown_ms: '3', drops_per_second: '6', bomb_percent: '0', pace: 'even', close_when_sold_out: false },
};

export const presetNames = Object.keys(PRESETS);

/**
 * A form filled with a preset.
 * @param {string} name @param {string} title
 * @returns {Form}
 */
export const presetForm = (name, title) => ({ ...emptyForm, ...PRESETS[name], title });

/** Buttons that start a new round from a preset. @param {{begin: (form: Form) => void}} props */
export function PresetBar({ begin }) {
  return html`<ul class="presets">
    ${presetNames.map((name) => html`<li key=${name}><button type="button" class="preset" data-test="preset-${name}" onClick=${() => begin(presetForm(name, t(`preset.${name}`)))}>
      <strong>${t(`preset.${name}`)}</strong><span>${t(`preset_hint.${name}`)}</span></button></li>`)}
  </ul>`;
}
