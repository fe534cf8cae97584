import { asApiError, makeRound } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { decimal } from '../shared/money.js';
import { showToast } from '../shared/toast.js';
import { html, useState } from '../shared/view.js';
import { CheckField, ChoiceField, TextField } from './field.js';
import { changeDraft } from './host-api.js';
import { Preview } from './preview.js';
import { hasTiers, readForm } from './settings.js';

/** @import {ApiError} from '../shared/api.js' */
/** @import {Round} from '../shared/messages.js' */
/** @import {Form} from './settings.js' */

/**
 * The form of a round, with errors beside its fields and a preview.
 * @param {{code: string, start: Form, online: number, made: (round: Round) => void, close: () => void}} props
 */
export function RoundForm({ code, start, online, made, close }) {
  const [form, setForm] = useState(start);
  const [refused, setRefused] = useState(/** @type {ApiError|null} */ (null));
  const [busy, setBusy] = useState(false);
  const { settings, wrong } = readForm(form);

  /** @param {string} name */
  const error = (name) => {
    if (wrong.includes(name)) return t('error.not_a_number');
    return refused?.field === name ? fieldError(refused) : '';
  };
  /** @param {keyof Form} name */
  const bind = (name) => ({
    name, value: form[name], error: error(name),
    onInput: (/** @type {any} */ value) => setForm({ ...form, [name]: value }),
  });

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    if (wrong.length > 0) return;
    setBusy(true);
    try {
      made((await (start.round ? changeDraft(start.round, settings) : makeRound(code, settings))).round);
    } catch (failure) {
      setRefused(asApiError(failure));
      if (!asApiError(failure).field) showToast(asApiError(failure).text, 'bad');
    }
    setBusy(false);
  }

  const derived = hasTiers(form) ? { readonly: true } : {};
  const total = hasTiers(form) ? decimal(Number(settings.total_cents)) : form.total_cents;
  const packets = hasTiers(form) ? String(settings.packets) : form.packets;
  return html`<form class="card round-form" onSubmit=${submit} novalidate data-test="round-form">
    <h2>${t(start.round ? 'form.change' : 'form.title')}</h2>
    <div class="form-columns">
      <div class="form-fields">
        <${TextField} ...${bind('title')} numeric=${false} />
        <div class="form-row">
          <${TextField} ...${bind('total_cents')} ...${derived} value=${total} unit=${t('unit.yuan')} />
          <${TextField} ...${bind('packets')} ...${derived} value=${packets} unit=${t('unit.packets')} />
        </div>
        <div class="form-row">
          <${TextField} ...${bind('duration_ms')} unit=${t('unit.seconds')} />
          <${TextField} ...${bind('cap')} unit=${t('unit.packets')} />
        </div>
        <${ChoiceField} ...${bind('pace')} choices=${['even', 'burst']} />
        <${ChoiceField} ...${bind('split')} choices=${['live', 'dealt']} />
        ${form.split === 'dealt' && html`<${ChoiceField} ...${bind('deal')} choices=${['double_mean', 'equal', 'tiers']} />`}
        ${hasTiers(form) && html`<${TierFields} tiers=${form.tiers} error=${error('tiers')} onChange=${(/** @type {Form['tiers']} */ tiers) => setForm({ ...form, tiers })} />`}
        <details class="more">
          <summary data-test="more">${t('form.more')}</summary>
          <div class="form-fields">
            <div class="form-row">
              <${TextField} ...${bind('min_cents')} unit=${t('unit.yuan')} />
              <${TextField} ...${bind('max_cents')} unit=${t('unit.yuan')} />
            </div>
            <div class="form-row">
              <${TextField} ...${bind('countdown_ms')} unit=${t('unit.seconds')} />
              <${TextField} ...${bind('drops_per_second')} unit=${t('unit.per_second')} />
            </div>
            <${TextField} ...${bind('bomb_percent')} unit="%" />
            <${CheckField} ...${bind('close_when_sold_out')} />
          </div>
        </details>
      </div>
      <${Preview} settings=${settings} ready=${wrong.length === 0} online=${online} refuse=${setRefused} />
    </div>
    <div class="form-buttons">
      <button type="button" class="button button-plain" data-test="close-form" onClick=${close}>${t('action.close')}</button>
      <button class="button button-red" data-test="create-round" disabled=${busy || wrong.length > 0}>${t('form.create')}</button>
    </div>
  </form>`;
}

/** @param {ApiError} refused */
const fieldError = (refused) => (refused.code === 'out_of_range' ? t(`limit.${refused.field}`) : refused.text);

const MOST_TIERS = 20;

/**
 * The rows of tiers.
 * @param {{tiers: Form['tiers'], error: string, onChange: (tiers: Form['tiers']) => void}} props
 */
export function TierFields({ tiers, error, onChange }) {
  /** @param {number} at @param {Partial<Form['tiers'][0]>} change */
  const change = (at, change) => onChange(tiers.map((tier, index) => (index === at ? { ...tier, ...change } : tier)));
  /** @param {number} at @param {'packets'|'cents'} part */
  const input = (at, part) => html`<input class="input" data-test="tier-${part}" inputmode="decimal" autocomplete="off" maxlength="20"
    aria-label=${t(`field.tier_${part}`)} value=${tiers[at][part]}
    onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ event) => change(at, { [part]: event.currentTarget.value })} />`;
  return html`<fieldset class="field" data-field="tiers">
    <legend class="field-label">${t('field.tiers')}</legend>
    ${tiers.map((_, at) => html`<div class="tier" key=${at} data-test="tier">
      ${input(at, 'packets')}<span>${t('tier.times')}</span>${input(at, 'cents')}<span>${t('unit.yuan')}</span>
      <button type="button" class="quiet-button" disabled=${tiers.length === 1} aria-label=${t('tier.remove')} data-test="tier-remove"
        onClick=${() => onChange(tiers.filter((__, index) => index !== at))}>✕</button>
    </div>`)}
    <div><button type="button" class="button button-plain" disabled=${tiers.length >= MOST_TIERS} data-test="tier-add"
      onClick=${() => onChange([...tiers, { packets: '1', cents: '1' }])}>${t('tier.add')}</button></div>
    <span class="field-hint">${t('hint.tiers')}</span>
    ${error && html`<span class="field-error" data-test="error-tiers" role="alert">${error}</span>`}
  </fieldset>`;
}
