import { t } from '../shared/i18n.js';
import { html } from '../shared/view.js';

/**
 * Says why something could not be read, and whether what is shown is therefore old. It is read again without this, too.
 * @param {{error: string, known: boolean, retry: () => void}} props known: something from before is shown
 */
export function StaleNote({ error, known, retry }) {
  return html`<p class="stale-note" role="alert" data-test="stale"><span>⚠ ${known && `${t('stale')} `}${error}</span>
    <button type="button" class="quiet-button" data-test="retry" onClick=${retry}>${t('action.retry')}</button></p>`;
}
