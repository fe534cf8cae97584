import { t } from '../shared/i18n.js';
import { html } from '../shared/view.js';
import { presetForm, presetNames } from './presets.js';

/** @import {Form} from './settings.js' */

/** Where a new round begins: empty, or fitting an occasion. @param {{begin: (form: Form) => void}} props */
export function PresetBar({ begin }) {
  return html`<ul class="presets">
    ${presetNames.map((name) => html`<li key=${name}><button type="button" class="preset" data-test="preset-${name}" onClick=${() => begin(presetForm(name, t(`preset.${name}`)))}>
      <strong>${t(`preset.${name}`)}</strong><span>${t(`preset_hint.${name}`)}</span></button></li>`)}
  </ul>`;
}
