import { asApiError, logIn } from '../shared/api.js';
import { fileAddress } from '../shared/file-address.js';
import { t } from '../shared/i18n.js';
import { showPhase } from '../shared/start-page.js';
import { html, useEffect, useState } from '../shared/view.js';

/** @param {{done: () => void}} props */
export function Login({ done }) {
  const [password, setPassword] = useState('');
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  useEffect(() => showPhase('login'), []);

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    setBusy(true);
    try {
      await logIn(password);
      done();
    } catch (failure) {
      setError(asApiError(failure).text);
      setBusy(false);
    }
  }

  return html`<main class="login">
    <img src=${fileAddress('packet.svg')} alt="" width="96" height="129" />
    <h1>${t('login.title')}</h1>
    <form class="card login-form" onSubmit=${submit}>
      <label class="field">
        <span class="field-label">${t('login.password')}</span>
        <input class="input" type="password" name="password" autocomplete="current-password" data-test="password" value=${password}
          aria-invalid=${error !== ''} onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ event) => setPassword(event.currentTarget.value)} />
        <span class="field-hint">${t('login.hint')}</span>
        <span class="field-error" data-test="error" role="alert">${error}</span>
      </label>
      <button class="button button-red button-wide" data-test="login" disabled=${busy}>${t('login.go')}</button>
    </form>
  </main>`;
}
