import { t } from '../shared/i18n.js';
import { html } from '../shared/view.js';

/** @typedef {{currentTarget: HTMLInputElement|HTMLSelectElement}} InputEventOf */

/**
 * One labelled field of the round form: what it is, one sentence on what it does, what is wrong with it.
 * @param {{name: string, error: string, children?: any}} props
 */
export function Field({ name, error, children }) {
  return html`<label class="field" data-field=${name}>
    <span class="field-label">${t(`field.${name}`)}</span>
    ${children}
    <span class="field-hint" id="hint-${name}">${t(`hint.${name}`)}</span>
    ${error && html`<span class="field-error" id="error-${name}" data-test="error-${name}" role="alert">${error}</span>`}
  </label>`;
}

/**
 * A number or a text, with its unit.
 * @param {{name: string, value: string, error?: string, unit?: string, numeric?: boolean, readonly?: boolean, onInput: (value: string) => void}} props
 */
export function TextField({ name, value, error = '', unit = '', numeric = true, readonly = false, onInput }) {
  return html`<${Field} name=${name} error=${error}>
    <span class="with-unit">
      <input class="input" data-test=${name} name=${name} autocomplete="off" inputmode=${numeric ? 'decimal' : 'text'} value=${value}
        readonly=${readonly} aria-invalid=${error !== ''} aria-describedby="hint-${name}" maxlength="200"
        onInput=${(/** @type {InputEventOf} */ event) => onInput(event.currentTarget.value)} />
      ${unit && html`<span class="unit">${unit}</span>`}
    </span>
  <//>`;
}

/**
 * One of a few, as a row of buttons.
 * @param {{name: string, value: string, choices: string[], error?: string, onInput: (value: any) => void}} props
 */
export function ChoiceField({ name, value, choices, error = '', onInput }) {
  return html`<fieldset class="field" data-field=${name}>
    <legend class="field-label">${t(`field.${name}`)}</legend>
    <div class="choices">
      ${choices.map((choice) => html`<label class="choice" key=${choice}>
        <input type="radio" name=${name} value=${choice} checked=${choice === value} data-test="${name}-${choice}" onInput=${() => onInput(choice)} />
        <span>${t(`choice.${choice}`)}</span>
      </label>`)}
    </div>
    <span class="field-hint">${t(`hint.${name}.${value}`)}</span>
    ${error && html`<span class="field-error" data-test="error-${name}" role="alert">${error}</span>`}
  </fieldset>`;
}

/** @param {{name: string, value: boolean, onInput: (value: boolean) => void}} props */
export function CheckField({ name, value, onInput }) {
  return html`<label class="check">
    <input type="checkbox" name=${name} data-test=${name} checked=${value}
      onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ event) => onInput(event.currentTarget.checked)} />
    <span><span class="field-label">${t(`field.${name}`)}</span><span class="field-hint">${t(`hint.${name}`)}</span></span>
  </label>`;
}
