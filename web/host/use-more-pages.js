import { asApiError } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { showToast } from '../shared/toast.js';
import { html, useState } from '../shared/view.js';

/**
 * The pages of a list after the first, as far as requested. They are discarded when the end of the first page changes.
 * @template T
 * @param {string} next after what the second page begins; empty: there is none
 * @param {(after: string) => Promise<{items: T[], next: string}>} read
 * @returns {{older: T[], more: (() => void)|null}} more reads on; null: there is no more
 */
export function useMorePages(next, read) {
  const none = { first: next, items: /** @type {T[]} */ ([]), next };
  const [kept, setKept] = useState(none);
  const known = kept.first === next ? kept : none;
  const more = () => void read(known.next).then((page) => setKept({ first: next, items: [...known.items, ...page.items], next: page.next }),
    (error) => showToast(asApiError(error).text, 'bad'));
  return { older: known.items, more: known.next ? more : null };
}

/**
 * Reads the next page, if there is one.
 * @param {{more: (() => void)|null, test: string}} props
 */
export const MorePagesButton = ({ more, test }) => more && html`<button type="button" class="button button-plain" data-test=${test} onClick=${more}>${t('list.older')}</button>`;
