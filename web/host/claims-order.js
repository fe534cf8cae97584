import { languageTag } from '../shared/i18n.js';
import { html } from '../shared/view.js';

/** @import {Claim} from '../shared/messages.js' */

/** Searching and sorting of claims and players. Pure. */


/** @typedef {'number'|'nickname'|'cents'} Column */

/** Whether a name has what was typed in it, whatever the case and the width of letters. @param {string} name @param {string} sought */
export const matches = (name, sought) => plain(name).includes(plain(sought.trim()));

/** @param {string} text */
const plain = (text) => text.normalize('NFKC').toLowerCase();

/**
 * Those that match, in an order; what is equal stays in the order of the claims.
 * @param {Claim[]} claims @param {string} sought @param {Column} column @param {boolean} descending
 */
export function sortedBy(claims, sought, column, descending) {
  const collator = new Intl.Collator(languageTag());
  const sign = descending ? -1 : 1;
  return claims.filter(({ nickname, number }) => matches(nickname, sought) || String(number) === sought.trim()).sort((a, b) =>
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
