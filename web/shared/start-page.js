import './calm-mode.js';
import { languageTag, t } from './i18n.js';
import { effect, html, render } from './view.js';
import { Toasts } from './toast.js';

/**
 * Starts a page: its language, its title, its root component.
 * @param {any} Root
 * @param {() => string} title
 */
export function startPage(Root, title) {
  effect(() => {
    document.documentElement.lang = languageTag();
    const own = title();
    document.title = own ? `${own} · ${t('product')}` : t('product');
  });
  const place = /** @type {HTMLElement} */ (document.getElementById('page'));
  place.textContent = '';
  render(html`<${Root} /><${Toasts} />`, place);
  document.getElementById('not-running')?.remove();
}

/** Lets styles and tests see what the page shows. @param {string} phase */
export function showPhase(phase) {
  document.body.dataset.phase = phase;
}
