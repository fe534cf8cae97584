import { asApiError, listClaims } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { Name } from '../shared/name.js';
import { showToast } from '../shared/toast.js';
import { html, useEffect, useRef, useState } from '../shared/view.js';
import { sortedBy } from './claims-order.js';
import { SearchBox } from './search-box.js';
import { SortHead } from './sort-head.js';

/** @import {Claim} from '../shared/messages.js' */
/** @import {Column} from './claims-order.js' */

const PAGE = 50;
const FETCHED = 1000;
/** More than this no browser should search through; the file has them all. */
const MOST = 20_000;

/**
 * Every claim of a round, to search and to sort; a page at a time is drawn.
 * @param {{round: string, claimed: number}} props claimed: how many there are by now
 */
export function ClaimsTable({ round, claimed }) {
  const { claims, loaded } = useClaims(round, claimed);
  const [sought, setSought] = useState('');
  const [column, setColumn] = useState(/** @type {Column} */ ('number'));
  const [descending, setDescending] = useState(false);
  const [shown, setShown] = useState(PAGE);

  /** @param {Column} chosen */
  const sort = (chosen) => {
    setDescending(chosen === column ? !descending : chosen === 'cents');
    setColumn(chosen);
  };
  if (!loaded) return html`<p class="empty">${t('loading')}</p>`;
  if (claims.length === 0) return html`<p class="empty" data-test="no-claims">${t('claims.empty')}</p>`;
  const found = sortedBy(claims, sought, column, descending);
  const more = found.length - shown;
  /** @param {Column} name @param {string} words */
  const head = (name, words) => html`<${SortHead} name=${name} words=${words} column=${column} descending=${descending} sort=${sort} />`;
  return html`<div class="claims">
    <${SearchBox} value=${sought} label=${t('claims.search')} test="claims-search" onInput=${setSought} />
    <table>
      <thead><tr>${head('number', t('claims.number'))}${head('nickname', t('claims.player'))}${head('cents', t('claims.amount'))}</tr></thead>
      <tbody>
        ${found.slice(0, shown).map(({ number, nickname, cents }) => html`<tr key=${number} data-test="claim-row" data-number=${number} data-cents=${cents}>
          <td>${number}</td><td><${Name} text=${nickname} /></td><td><${Money} cents=${cents} /></td>
        </tr>`)}
      </tbody>
    </table>
    ${found.length === 0 && html`<p class="empty">${t('search.nothing')}</p>`}
    ${more > 0 && html`<button type="button" class="button button-plain" data-test="more-claims" onClick=${() => setShown(shown + PAGE)}>${t('claims.more', { n: more })}</button>`}
    ${claims.length >= MOST && html`<p class="field-hint">${t('claims.too_many', { n: MOST })}</p>`}
  </div>`;
}

/**
 * All claims so far; while the round goes on those that are new are read as they are counted.
 * @param {string} round @param {number} claimed
 */
function useClaims(round, claimed) {
  const [claims, setClaims] = useState(/** @type {Claim[]} */ ([]));
  const [loaded, setLoaded] = useState(false);
  const known = useRef({ claims: /** @type {Claim[]} */ ([]), busy: false, missed: false });
  const [reads, setReads] = useState(0);
  useEffect(() => {
    const all = known.current;
    all.missed = all.busy;
    if (all.busy) return;
    all.busy = true;
    readOn(round, all.claims).then((read) => {
      all.claims = read;
      setClaims(read);
      setLoaded(true);
    }, (error) => showToast(asApiError(error).text, 'bad')).finally(() => {
      all.busy = false;
      if (all.missed) setReads(reads + 1);
    });
  }, [round, claimed, reads]);
  return { claims, loaded };
}

/** @param {string} round @param {Claim[]} known */
async function readOn(round, known) {
  const claims = [...known];
  for (let next = -1; next !== 0 && claims.length < MOST;) {
    const page = await listClaims(round, claims.at(-1)?.number ?? 0, FETCHED);
    claims.push(...page.claims);
    next = page.next;
  }
  return claims;
}
