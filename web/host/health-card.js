import { hasWords, languageTag, t } from '../shared/i18n.js';
import { html } from '../shared/view.js';
import { getHealth } from './host-api.js';
import { useServerData } from './coalesced-reader.js';

/** @import {Connection} from '../shared/socket.js' */
/** @import {HealthCheck} from './host-api.js' */

const LOOK_MS = 5000;

/**
 * The health checks and their latencies.
 * @param {{connection: Connection}} props
 */
export function HealthCard({ connection }) {
  const { value, error } = useServerData(({ signal }) => getHealth(signal), { every: () => LOOK_MS });
  const checks = error ? null : value?.checks ?? []; // null: no answer
  const state = connection.state.value;
  return html`<section class="card health" data-test="health"><h2>${t('health.title')}</h2>
    <ul>
      <${Line} name=${t('health.page')} ok=${state === 'open'} words=${t(`connection.${state}`)} />
      ${checks === null ? html`<${Line} name=${t('health.server')} ok=${false} words=${t('health.silent')} />`
        : checks.map((check) => html`<${Line} key=${check.name} name=${t(`check.${check.name}`)} ok=${check.ok} words=${checkWords(check)} test=${check.name} />`)}
    </ul>
  </section>`;
}

/** How long a check took, or why it failed. @param {HealthCheck} check */
function checkWords({ ok, ms, reason }) {
  if (ok) return t('unit.ms', { text: ms.toLocaleString(languageTag(), { maximumFractionDigits: 1 }) });
  return t(`unready.${hasWords(`unready.${reason}`) ? reason : 'unknown'}`);
}

/** @param {{name: string, ok: boolean, words: string, test?: string}} props */
function Line({ name, ok, words, test = 'page' }) {
  return html`<li data-test="health-${test}" data-ok=${ok}><span class="health-dot ${ok ? 'health-ok' : 'health-bad'}" aria-hidden="true"></span>
    <span>${name}</span><span class="health-words">${ok ? '' : '⚠ '}${words}</span></li>`;
}
