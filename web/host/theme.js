import { t } from '../shared/i18n.js';
import { recall, remember } from '../shared/device-settings.js';
import { effect, html, signal } from '../shared/view.js';

/** @typedef {'light'|'dark'} Theme */

/** The host's choice, else the device's. @type {import('../vendor/signals-core.js').Signal<Theme>} */
export const theme = signal(/** @type {Theme} */ (recall('theme') ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')));

export function switchTheme() {
  theme.value = theme.value === 'dark' ? 'light' : 'dark';
  remember('theme', theme.value);
}

/** Keeps the page in the theme. */
export function wearTheme() {
  effect(() => {
    for (const place of [document.documentElement, document.body]) {
      place.classList.toggle('light', theme.value === 'light');
      place.classList.toggle('dusk', theme.value === 'dark');
    }
  });
}

/** Switches between dark and light. */
export function ThemeSwitch() {
  const words = t(theme.value === 'dark' ? 'theme.light' : 'theme.dark');
  return html`<button type="button" class="quiet-button" data-test="theme" aria-label=${words} title=${words} onClick=${switchTheme}>
    <span aria-hidden="true">${theme.value === 'dark' ? '☀' : '☾'}</span></button>`;
}
