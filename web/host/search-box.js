import { html } from '../shared/view.js';

/** @param {{value: string, label: string, test: string, onInput: (value: string) => void}} props */
export function SearchBox({ value, label, test, onInput }) {
  return html`<input class="input search-box" type="search" autocomplete="off" maxlength="100" data-test=${test} aria-label=${label} placeholder=${label} value=${value}
    onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ event) => onInput(event.currentTarget.value)} />`;
}
