import { asApiError, getOwnRounds } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { html, useState } from '../shared/view.js';
import { checkAddress } from './check-address.js';

/** @import {ApiError, OwnRounds} from '../shared/api.js' */

/**
 * What I won in this room so far, round by round, once somebody wants to know.
 * @param {{code: string}} props
 */
export function History({ code }) {
  const [own, setOwn] = useState(/** @type {OwnRounds|null} */ (null));
  const [failed, setFailed] = useState(/** @type {ApiError|null} */ (null));
  async function load() {
    setFailed(null);
    try {
      setOwn(await getOwnRounds(code));
    } catch (error) {
      setFailed(asApiError(error));
    }
  }
  const toggled = (/** @type {{currentTarget: HTMLDetailsElement}} */ event) => event.currentTarget.open && void load();
  return html`<details class="card history" data-test="history" onToggle=${toggled}>
    <summary class="history-title">${t('history.title')}</summary>
    ${failed ? html`<p class="empty" role="alert">${failed.text}</p><button type="button" class="button button-plain" onClick=${load}>${t('action.retry')}</button>`
      : own ? html`<${Rounds} own=${own} />` : html`<p class="empty" role="status">${t('loading')}</p>`}
  </details>`;
}

/** @param {{own: OwnRounds}} props */
function Rounds({ own }) {
  if (own.rounds.length === 0) return html`<p class="empty">${t('history.empty')}</p>`;
  return html`<p class="history-balance">${t('history.balance')} <${Money} cents=${own.balance_cents} test="balance" /></p>
    <ol class="history-rounds">
      ${own.rounds.map(({ round, packets, cents, rank }) => html`<li key=${round.id} class="history-round" data-test="own-round" data-round=${round.id} data-cents=${cents}>
        <span class="history-name">${round.title ? html`<bdi>${round.title}</bdi>` : t('round.untitled')}</span>
        <${Money} cents=${cents} />
        <span class="history-note">${t('packets', { n: packets })}${rank > 0 && ` · ${t('end.rank', { rank })}`}</span>
        <a class="history-check" href=${checkAddress(round.id)}>${t('fair.link')}</a>
      </li>`)}
    </ol>`;
}
