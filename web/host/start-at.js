import { asApiError } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { html, useState } from '../shared/view.js';
import { planStart } from './host-api.js';
import { localTime } from './settings.js';

/** @import {Round} from '../shared/messages.js' */

const SOON_MS = 5 * 60_000;

/**
 * When a draft is to start by itself.
 * @param {{round: Round, done: (round: Round|null) => void}} props done: with the planned round, or null for no change
 */
export function StartAt({ round, done }) {
  const [typed, setTyped] = useState(() => localTime(round.starts_on || Math.ceil((Date.now() + SOON_MS) / 60_000) * 60_000));
  const [error, setError] = useState('');

  /** @param {Event} event */
  async function save(event) {
    event.preventDefault();
    const on = new Date(typed).getTime();
    if (Number.isNaN(on)) return setError(t('plan.no_time'));
    try {
      done((await planStart(round.id, on)).round);
    } catch (failure) {
      setError(asApiError(failure).field === 'starts_on' ? t('plan.past') : asApiError(failure).text);
    }
  }

  return html`<form class="start-at" onSubmit=${save} novalidate>
    <label class="field"><span class="field-label">${t('plan.at')}</span>
      <input class="input" type="datetime-local" step="1" data-test="starts-on" value=${typed} aria-invalid=${error !== ''}
        onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ event) => { setTyped(event.currentTarget.value); setError(''); }} />
      <span class="field-hint">${t('plan.hint')}</span>
      ${error && html`<span class="field-error" role="alert" data-test="error-starts-on">${error}</span>`}
    </label>
    <div class="round-buttons">
      <button class="button button-red" data-test="save-start">${t('action.save')}</button>
      <button type="button" class="button button-plain" onClick=${() => done(null)}>${t('action.close')}</button>
    </div>
  </form>`;
}
