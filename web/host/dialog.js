import { t } from '../shared/i18n.js';
import { Name } from '../shared/name-text.js';
import { html, useEffect, useRef } from '../shared/view.js';

/**
 * Asks before something that cannot be undone. Escape and the other button say no.
 * @param {{title: string, about?: string, text: string, yes: string, onYes: () => void, onNo: () => void}} props about: the name of whom it is about
 */
export function Confirm({ title, about, text, yes, onYes, onNo }) {
  const dialog = useRef(/** @type {HTMLDialogElement|null} */ (null));
  useEffect(() => {
    const pressed = /** @type {HTMLElement|null} */ (document.activeElement);
    dialog.current?.showModal();
    return () => { if (document.activeElement === document.body) pressed?.focus(); };
  }, []);
  return html`<dialog class="dialog" ref=${dialog} onClose=${onNo} aria-labelledby="dialog-title" data-test="dialog">
    <h2 id="dialog-title">${title}</h2>
    ${about && html`<p class="dialog-about" data-test="dialog-about"><${Name} text=${about} /></p>`}
    <p>${text}</p>
    <div class="dialog-buttons">
      <button type="button" class="button button-plain" data-test="dialog-no" onClick=${onNo}>${t('action.no')}</button>
      <button type="button" class="button button-red" data-test="dialog-yes" onClick=${onYes}>${yes}</button>
    </div>
  </dialog>`;
}
