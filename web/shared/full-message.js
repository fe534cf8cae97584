import { t } from './i18n.js';
import { html } from './view.js';

/**
 * A sentence in the middle of the page, with what one can do about it.
 * @param {{text: string, action?: string, onAction?: () => void, home?: boolean}} props
 */
export function FullMessage({ text, action = '', onAction, home = false }) {
  return html`<main class="full-message">
    <div role="status"><h1 class="full-message-text" data-test="message">${text}</h1></div>
    ${action && html`<button type="button" class="button button-gold" data-test="action" onClick=${onAction}>${action}</button>`}
    ${home && html`<a href="/">${t('action.home')}</a>`}
  </main>`;
}
