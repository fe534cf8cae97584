import { html } from '../shared/view.js';

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
