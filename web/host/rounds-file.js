import { asApiError } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { showToast } from '../shared/toast.js';
import { html, useRef, useState } from '../shared/view.js';
import { exportAddress, importRounds } from './host-api.js';

/**
 * Exports and imports a room's rounds.
 * @param {{code: string, some: boolean, imported: () => void}} props some: whether there is anything to export
 */
export function RoundsFile({ code, some, imported }) {
  const input = useRef(/** @type {HTMLInputElement|null} */ (null));
  const [error, setError] = useState('');

  /** @param {{currentTarget: HTMLInputElement}} event */
  async function take({ currentTarget }) {
    const [file] = currentTarget.files ?? [];
    if (!file) return;
    try {
      const { rounds } = await importRounds(code, JSON.parse(await file.text()));
      setError('');
      showToast(t('transfer.imported', { n: rounds.length }), 'good');
      imported();
    } catch (failure) {
      setError(failure instanceof SyntaxError ? t('transfer.not_json') : explain(asApiError(failure)));
    }
    currentTarget.value = '';
  }

  return html`<div class="transfer">
    ${some && html`<a class="button button-plain" href=${exportAddress(code)} download data-test="export">${t('transfer.export')}</a>`}
    <button type="button" class="button button-plain" data-test="import" onClick=${() => input.current?.click()}>${t('transfer.import')}</button>
    <input ref=${input} class="visually-hidden" type="file" accept="application/json,.json" tabindex="-1" aria-label=${t('transfer.import')} data-test="import-file" onChange=${take} />
    ${error && html`<p class="field-error" role="alert" data-test="error-import">${error}</p>`}
  </div>`;
}

/** Says which round of the file is at fault. @param {import('../shared/api.js').ApiError} error */
function explain(error) {
  const [, place, field] = /^rounds\[(\d+)\](?:\.(\w+))?/.exec(error.field) ?? [];
  if (place === undefined) return error.text;
  const words = error.code === 'out_of_range' && field ? t(`limit.${field}`) : error.text;
  return t('transfer.at', { place: Number(place) + 1, words });
}
