import { t } from '../shared/i18n.js';
import { html, useEffect, useRef } from '../shared/view.js';

/**
 * Asks before something that cannot be undone. Escape and the other button say no.
 * @param {{title: string, text: string, yes: string, onYes: () => void, onNo: () => void}} props
 */
export function Confirm({ title, text, yes, onYes, onNo }) {
  const dialog = useRef(/** @type {HTMLDialogElement|null} */ (null));
  useEffect(() => dialog.current?.showModal(), []);
  return html`<dialog class="dialog" ref=${dialog} onClose=${onNo} aria-labelledby="dialog-title" data-test="dialog">
    <h2 id="dialog-title">${title}</h2>
    <p>${text}</p>
    <div class="dialog-buttons">
      <button type="button" class="button button-plain" data-test="dialog-no" onClick=${onNo}>${t('action.no')}</button>
      <button type="button" class="button button-red" data-test="dialog-yes" onClick=${onYes}>${yes}</button>
    </div>
  </dialog>`;
}
