import { languageTag, t } from '../shared/i18n.js';
import { html } from '../shared/view.js';

/** @import {Rehearsal, Report} from './host-api.js' */

/**
 * The report of a rehearsal.
 * @param {{rehearsal: Rehearsal, running: string}} props running: what to say while it runs
 */
export function RehearsalReport({ rehearsal, running }) {
  const { state, report, players, begun_at: begunAt } = rehearsal;
  const begun = new Date(begunAt).toLocaleString(languageTag(), { dateStyle: 'short', timeStyle: 'medium' });
  return html`<article class="card rehearsal" data-test="rehearsal" data-state=${state} data-conserved=${report?.conserved}>
    <header class="round-head"><h2 class="round-title">${t('rehearsal.bots', { n: players })} · ${begun}</h2>
      <span class="pill ${state === 'running' ? 'pill-raining' : state === 'failed' ? 'pill-countdown' : 'pill-settled'}">${t(`rehearsal.${state}`)}</span></header>
    ${state === 'running' && html`<p role="status">${running}</p>`}
    ${state === 'failed' && html`<p class="books-verdict books-wrong">${rehearsal.problem}</p>`}
    ${report && html`<${Figures} report=${report} />`}
  </article>`;
}

/** @param {{report: Report}} props */
function Figures({ report }) {
  /** @param {string} name @param {string} value */
  const figure = (name, value) => html`<div><dt>${t(`report.${name}`)}</dt><dd data-test="report-${name}">${value}</dd></div>`;
  return html`
    <p class="books-verdict ${report.conserved ? 'books-right' : 'books-wrong'}" data-test="report-verdict">${t(report.conserved ? 'report.right' : 'report.wrong')}</p>
    ${(report.violations ?? []).slice(0, 5).map((text) => html`<p key=${text} lang="en">${text}</p>`)}
    <dl class="totals-list">
      ${figure('players', report.players.toLocaleString(languageTag()))}
      ${figure('taps', report.taps.toLocaleString(languageTag()))}
      ${figure('rate', rounded(report.taps_per_second))}
      ${figure('won', (report.outcomes?.won ?? 0).toLocaleString(languageTag()))}
      ${figure('p50', milliseconds(report.latency_us.p50))}
      ${figure('p99', milliseconds(report.latency_us.p99))}
    </dl>`;
}

/** @param {number} value */
const rounded = (value) => value.toLocaleString(languageTag(), { maximumFractionDigits: 0 });

/** @param {number} us */
const milliseconds = (us) => t('unit.ms', { text: (us / 1000).toLocaleString(languageTag(), { maximumFractionDigits: 1 }) });
