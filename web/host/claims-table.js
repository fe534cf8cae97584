import { listClaims } from '../shared/api.js';
import { languageTag, t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { Name } from '../shared/name-text.js';
import { html, useRef, useState } from '../shared/view.js';
import { SearchBox } from './search-box.js';
import { StaleNote, useServerData } from './coalesced-reader.js';

/** @import {Claim} from '../shared/messages.js' */

/** Searching and sorting of claims and players. Pure. */


/** @typedef {'number'|'nickname'|'cents'} Column */

/** Whether a name has what was typed in it, whatever the case and the width of letters. @param {string} name @param {string} sought */
export const matches = (name, sought) => plain(name).includes(plain(sought));

/** @param {string} text */
const plain = (text) => text.normalize('NFKC').toLowerCase().trim();

/**
 * Those that match, in an order; what is equal stays in the order of the claims.
 * @param {Claim[]} claims @param {string} sought @param {Column} column @param {boolean} descending
 */
export function sortedBy(claims, sought, column, descending) {
  const collator = new Intl.Collator(languageTag());
  const sign = descending ? -1 : 1;
  return claims.filter(({ nickname, number }) => matches(nickname, sought) || String(number) === plain(sought)).sort((a, b) =>
    sign * (column === 'nickname' ? collator.compare(a.nickname, b.nickname) : a[column] - b[column]) || a.number - b.number);
}

/**
 * The head of a column, by which the table can be sorted.
 * @param {{name: string, words: string, column: string, descending: boolean, sort: (name: any) => void}} props
 */
export function SortHead({ name, words, column, descending, sort }) {
  const chosen = column === name;
  const order = !chosen ? 'none' : descending ? 'descending' : 'ascending';
  return html`<th scope="col" aria-sort=${order}><button type="button" class="sort-head" data-test="sort-${name}" onClick=${() => sort(name)}>
    ${words}<span aria-hidden="true">${!chosen ? '' : descending ? ' ↓' : ' ↑'}</span></button></th>`;
}

const PAGE = 50;
const FETCHED = 1000;
/** The most claims that are shown; the file has all. */
const MOST = 20_000;

/**
 * Every claim of a round, to search and to sort; a page at a time is drawn.
 * @param {{round: string, claimed: number}} props claimed: how many there are by now
 */
export function ClaimsTable({ round, claimed }) {
  const { value: claims, error, refresh } = useClaims(round, claimed);
  const [sought, setSought] = useState('');
  const [column, setColumn] = useState(/** @type {Column} */ ('number'));
  const [descending, setDescending] = useState(false);
  const [shown, setShown] = useState(PAGE);

  /** @param {Column} chosen */
  const sort = (chosen) => {
    setDescending(chosen === column ? !descending : chosen === 'cents');
    setColumn(chosen);
  };
  const stale = error && html`<${StaleNote} error=${error} known=${claims !== null} retry=${refresh} />`;
  if (!claims) return stale || html`<p class="empty">${t('loading')}</p>`;
  if (claims.length === 0) return html`<p class="empty" data-test="no-claims">${t('claims.empty')}</p>`;
  const found = sortedBy(claims, sought, column, descending);
  const more = found.length - shown;
  /** @param {Column} name @param {string} words */
  const head = (name, words) => html`<${SortHead} name=${name} words=${words} column=${column} descending=${descending} sort=${sort} />`;
  return html`<div class="claims">
    ${stale}
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
  const read = useRef(/** @type {Claim[]} */ ([])); // a reading that fails halfway is taken up where it was
  return useServerData(async ({ signal }) => {
    for (let next = -1; next !== 0 && read.current.length < MOST;) {
      const page = await listClaims(round, read.current.at(-1)?.number ?? 0, FETCHED, signal);
      signal.throwIfAborted(); // another reading goes on from here by now
      read.current = [...read.current, ...page.claims];
      next = page.next;
    }
    return read.current;
  }, { also: [round, claimed] });
}
