import { t } from './i18n.js';
import { recall, remember } from './device-settings.js';
import { html } from './view.js';

const NAME = 'nickname';

/** The nickname that this device used last, or ''. */
export const rememberedNickname = () => recall(NAME) ?? '';

/** @param {string} nickname */
export const rememberNickname = (nickname) => remember(NAME, nickname);

/**
 * @param {{value: string, onInput: (value: string) => void, error: string, autofocus?: boolean}} props
 */
export function NicknameField({ value, onInput, error, autofocus = false }) {
  return html`<label class="field">
    <span class="field-label">${t('nickname.label')}</span>
    <input class="input" data-test="nickname" name="nickname" autocomplete="nickname" enterkeyhint="go" maxlength="200"
      autofocus=${autofocus} placeholder=${t('nickname.placeholder')} value=${value} aria-invalid=${error !== ''}
      aria-describedby="nickname-error" onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ event) => onInput(event.currentTarget.value)} />
    <span class="field-error" id="nickname-error" data-test="error-nickname" role="alert">${error}</span>
  </label>`;
}
