import { asApiError, joinRoom } from '../shared/api.js';
import { parseJoinCode } from '../shared/join-code.js';
import { t } from '../shared/i18n.js';
import { NicknameField, rememberedNickname, rememberNickname } from '../shared/nickname-field.js';
import { html, useState } from '../shared/view.js';

/** Asks for the code and the nickname, and goes to the room. */
export function JoinForm() {
  const [typed, setTyped] = useState('');
  const [nickname, setNickname] = useState(rememberedNickname());
  const [refused, setRefused] = useState(/** @type {import('../shared/api.js').ApiError|null} */ (null));
  const [wrongCode, setWrongCode] = useState(false);
  const [busy, setBusy] = useState(false);

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    const code = parseJoinCode(typed);
    setWrongCode(code === '');
    setRefused(null);
    if (code === '') return;
    setBusy(true);
    try {
      await joinRoom(code, nickname);
      rememberNickname(nickname);
      location.assign(`/r/${code}`);
    } catch (error) {
      setRefused(asApiError(error));
      setBusy(false);
    }
  }

  const aboutNickname = refused?.field === 'nickname';
  return html`<form class="card join-form" onSubmit=${submit} novalidate>
    <label class="field">
      <span class="field-label">${t('code.label')}</span>
      <input class="input join-code" data-test="code" name="code" autocomplete="off" autocapitalize="characters"
        spellcheck="false" maxlength="12" placeholder=${t('code.placeholder')} value=${typed} aria-invalid=${wrongCode}
        aria-describedby="code-error" onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ e) => setTyped(e.currentTarget.value.toUpperCase())} />
      <span class="field-error" id="code-error" data-test="error-code" role="alert">${wrongCode ? t('code.wrong') : ''}</span>
    </label>
    <${NicknameField} value=${nickname} onInput=${setNickname} error=${aboutNickname && refused ? refused.text : ''} />
    <button class="button button-gold button-wide" data-test="join" disabled=${busy}>${t('join.go')}</button>
    <p class="field-error" data-test="error" role="alert">${refused && !aboutNickname ? refused.text : ''}</p>
  </form>`;
}
