import { t } from '../shared/i18n.js';
import { html } from '../shared/view.js';
import { switchTheme, theme } from './theme.js';

/** Dark for a dim hall, light for a desk. */
export function ThemeSwitch() {
  const words = t(theme.value === 'dark' ? 'theme.light' : 'theme.dark');
  return html`<button type="button" class="quiet-button" data-test="theme" aria-label=${words} title=${words} onClick=${switchTheme}>
    <span aria-hidden="true">${theme.value === 'dark' ? '☀' : '☾'}</span></button>`;
}
