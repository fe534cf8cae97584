import { t } from '../shared/i18n.js';
import { html, useEffect, useRef } from '../shared/view.js';
import { SHORTCUTS } from './keys.js';

/** What the keys do. @param {{close: () => void}} props */
export function ShortcutHelp({ close }) {
  const dialog = useRef(/** @type {HTMLDialogElement|null} */ (null));
  useEffect(() => dialog.current?.showModal(), []);
  return html`<dialog class="dialog" ref=${dialog} onClose=${close} aria-labelledby="keys-title" data-test="keys">
    <h2 id="keys-title">${t('keys.title')}</h2>
    <dl class="keys">
      ${Object.entries(SHORTCUTS).map(([key, name]) => html`<div key=${key}><dt><kbd>${key.toUpperCase()}</kbd></dt><dd>${t(`key.${name}`)}</dd></div>`)}
    </dl>
    <p class="field-hint">${t('keys.hint')}</p>
    <div class="dialog-buttons"><button type="button" class="button button-red" onClick=${close}>${t('action.close')}</button></div>
  </dialog>`;
}
