import { language, setLanguage, t } from './i18n.js';
import { html } from './view.js';

/** Switches between the two languages; the button names the other one, in that language. */
export function LanguageSwitch() {
  const other = language.value === 'zh' ? 'en' : 'zh';
  return html`<button type="button" class="quiet-button" data-test="language" lang=${other}
    onClick=${() => setLanguage(other)}>${t('language.name')}</button>`;
}
