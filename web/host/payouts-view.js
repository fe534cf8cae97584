import { asApiError } from '../shared/api.js';
import { languageTag, t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { showToast } from '../shared/toast.js';
import { html, useState } from '../shared/view.js';
import { listPayouts, resendPayouts } from './host-api.js';
import { StaleNote, useServerData } from './coalesced-reader.js';

/** @import {Payout} from './host-api.js' */

const AGAIN_MS = 3000;

/**
 * The payouts of a settled round; nothing if there are none.
 * @param {{round: string}} props
 */
export function PayoutsView({ round }) {
  const { value: page, error, refresh } = useServerData(({ signal }) => listPayouts(round, 0, signal),
    { also: [round], every: ({ sums }) => (sums.pending.claims > 0 ? AGAIN_MS : 0) });
  const [more, setMore] = useState(/** @type {Payout[]} */ ([]));
  if (!page?.sums.planned) return null;

  const { pending, paid, failed } = page.sums;
  const resend = () => resendPayouts(round).then(({ payouts }) => {
    showToast(t('payouts.resent', { n: payouts }), 'good');
    refresh();
  }, (error) => showToast(asApiError(error).text, 'bad'));
  const read = () => listPayouts(round, (more.at(-1) ?? page.payouts.at(-1))?.number ?? 0)
    .then((next) => setMore([...more, ...next.payouts]), (error) => showToast(asApiError(error).text, 'bad'));
  const shown = [...page.payouts, ...more];
  return html`<section class="books" data-test="payouts" data-failed=${failed.claims}>
    <h3>${t('payouts.title')}</h3>
    ${error && html`<${StaleNote} error=${error} known retry=${refresh} />`}
    <dl class="books-sum">${Object.entries({ paid, pending, failed }).map(([state, sum]) => html`<div key=${state}><dt>${t(`payout.${state}`)}</dt>
      <dd><${Money} cents=${sum.cents} test="payouts-${state}" /> <small>${t('payouts.claims', { n: sum.claims })}</small></dd></div>`)}</dl>
    ${(failed.claims > 0 || pending.claims > 0) && html`<div class="round-buttons"><button type="button" class="button button-plain" data-test="resend" onClick=${resend}>${t('payouts.resend')}</button>
      <span class="field-hint">${t('payouts.hint')}</span></div>`}
    <details class="more"><summary>${t('payouts.each')}</summary><ul class="payouts-list">
      ${shown.map((one) => html`<li key=${one.id} class="payout" data-test="payout" data-state=${one.state}>
        <span class="pill ${one.state === 'paid' ? 'pill-settled' : one.state === 'failed' ? 'pill-raining' : 'pill-countdown'}">${t(`payout.${one.state}`)}</span>
        <${Money} cents=${one.cents} /><span>${one.state === 'paid' ? time(one.paid_at) : t('payouts.attempts', { n: one.attempts })}</span>
        ${one.problem && html`<span class="payout-problem" lang="en">${one.problem}</span>`}</li>`)}</ul>
      ${page.next > 0 && shown.length % 50 === 0 && html`<button type="button" class="button button-plain" onClick=${read}>${t('payouts.more')}</button>`}
    </details>
  </section>`;
}

/** @param {number} ms */
const time = (ms) => new Date(ms).toLocaleString(languageTag(), { dateStyle: 'short', timeStyle: 'medium' });
