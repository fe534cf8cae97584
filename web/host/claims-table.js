import { asApiError, listClaims } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { Name } from '../shared/name.js';
import { showToast } from '../shared/toast.js';
import { html, useEffect, useState } from '../shared/view.js';

/** @import {Claim} from '../shared/messages.js' */

const PAGE = 50;

/**
 * Every claim of a round in the order in which they were granted, a page at a time.
 * @param {{round: string, claimed: number}} props claimed: how many there are by now; more of them can be asked for
 */
export function ClaimsTable({ round, claimed }) {
  const [claims, setClaims] = useState(/** @type {Claim[]} */ ([]));
  const [loaded, setLoaded] = useState(false);

  /** @param {Claim[]} known */
  async function more(known) {
    try {
      const page = await listClaims(round, known.at(-1)?.number ?? 0, PAGE);
      setClaims([...known, ...page.claims]);
      setLoaded(true);
    } catch (error) {
      showToast(asApiError(error).text, 'bad');
    }
  }

  useEffect(() => void more([]), [round]);
  if (!loaded) return html`<p class="empty">${t('loading')}</p>`;
  if (claims.length === 0 && claimed === 0) return html`<p class="empty" data-test="no-claims">${t('claims.empty')}</p>`;
  return html`<div class="claims">
    <table>
      <thead><tr><th scope="col">${t('claims.number')}</th><th scope="col">${t('claims.player')}</th><th scope="col">${t('claims.amount')}</th></tr></thead>
      <tbody>
        ${claims.map(({ number, nickname, cents }) => html`<tr key=${number} data-test="claim-row" data-number=${number} data-cents=${cents}>
          <td>${number}</td><td><${Name} text=${nickname} /></td><td><${Money} cents=${cents} /></td>
        </tr>`)}
      </tbody>
    </table>
    ${claims.length < claimed && html`<button type="button" class="button button-plain" data-test="more-claims" onClick=${() => more(claims)}>
      ${t('claims.more', { n: claimed - claims.length })}</button>`}
  </div>`;
}
