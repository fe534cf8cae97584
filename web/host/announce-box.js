import { asApiError } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { showToast } from '../shared/toast.js';
import { html, useState } from '../shared/view.js';
import { announce } from './host-api.js';

const MOST = 80;

/** A sentence for all players and screens. @param {{code: string}} props */
export function AnnounceBox({ code }) {
  const [text, setText] = useState('');
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const length = [...new Intl.Segmenter().segment(text.trim())].length;

  /** @param {Event} event */
  async function send(event) {
    event.preventDefault();
    setBusy(true);
    try {
      await announce(code, text);
      setText('');
      setError('');
      showToast(t('announce.sent'), 'good');
    } catch (failure) {
      setError(asApiError(failure).text);
    }
    setBusy(false);
  }

  return html`<form class="card announce" onSubmit=${send} novalidate>
    <label class="field"><span class="field-label">${t('announce.title')}</span>
      <input class="input" id="announce" data-test="announce" autocomplete="off" maxlength="400" placeholder=${t('announce.placeholder')} value=${text} aria-invalid=${error !== ''}
        onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ event) => { setText(event.currentTarget.value); setError(''); }} />
      <span class="field-hint">${t('announce.hint', { count: length, most: MOST })}</span>
      ${error && html`<span class="field-error" role="alert" data-test="error-announce">${error}</span>`}
    </label>
    <button class="button button-plain" data-test="send-announcement" disabled=${busy || length === 0 || length > MOST}>${t('announce.go')}</button>
  </form>`;
}
