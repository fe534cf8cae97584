import { t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { html } from '../shared/view.js';
import { getRoomBooks, statementFile } from './host-api.js';
import { MorePagesButton, useMorePages } from './use-more-pages.js';
import { StaleNote, useServerData } from './coalesced-reader.js';

/** @import {Live} from '../shared/live-room.js' */
/** @import {BooksSum, RoundBooks} from './host-api.js' */

/**
 * The sums of all rounds of a room, and the host's balance.
 * @param {{code: string, live: Live}} props
 */
export function BooksTab({ code, live }) {
  const { round } = live.store;
  const books = useServerData(({ signal }) => getRoomBooks(code, '', signal), { store: live.store, codes: ['rounds_changed', 'round_frozen'], also: [round.value?.id, round.value?.phase] });
  const { older, more } = useMorePages(books.value?.next ?? '', (after) => getRoomBooks(code, after).then((page) => ({ items: page.rounds, next: page.next })));
  const stale = books.error && html`<${StaleNote} error=${books.error} known=${books.value !== null} retry=${books.refresh} />`;
  if (!books.value) return html`<section class="card">${stale || html`<p class="empty" role="status">${t('loading')}</p>`}</section>`;
  const { rounds, sum, balance_cents: balance } = books.value;
  if (rounds.length === 0) return html`<section class="card">${stale}<p class="empty" data-test="no-books">${t('sums.empty')}</p></section>`;
  return html`<section class="card sums" data-test="sums">
    ${stale}
    <div class="plan-head"><h2>${t('sums.title')}</h2><a class="button button-plain" href=${statementFile(code)} download data-test="statement">${t('sums.statement')}</a>
      <a class="button button-plain" href=${statementFile(code, 'xlsx')} download data-test="statement-xlsx">${t('claims.workbook')}</a></div>
    <p>${t('sums.balance')} <strong><${Money} cents=${balance} test="balance" /></strong> <span class="field-hint">${t('sums.balance_hint')}</span></p>
    <div class="sums-scroll" tabindex="0" role="group" aria-label=${t('sums.title')}><table>
      <thead><tr><th scope="col">${t('sums.round')}</th>${COLUMNS.map((name) => html`<th key=${name} scope="col">${t(`sum.${name}`)}</th>`)}</tr></thead>
      <tbody>${[...rounds, ...older].map((one) => html`<tr key=${one.round} data-test="sum-row"><th scope="row"><${Title} round=${one} /></th><${Cells} books=${one.books} /></tr>`)}</tbody>
      <tfoot><tr data-test="sum-all"><th scope="row">${t('sums.all')}</th><${Cells} books=${sum} /></tr></tfoot>
    </table></div>
    <${MorePagesButton} more=${more} test="more-books" />
  </section>`;
}

/** @type {('budget_cents'|'claimed_cents'|'refunded_cents'|'held_cents'|'paid_out_cents')[]} */
const COLUMNS = ['budget_cents', 'claimed_cents', 'refunded_cents', 'held_cents', 'paid_out_cents'];

/** @param {{books: BooksSum}} props */
const Cells = ({ books }) => COLUMNS.map((name) => html`<td key=${name}><${Money} cents=${books[name]} test=${`sum-${name}`} /></td>`);

/** @param {{round: RoundBooks}} props */
const Title = ({ round }) => html`<bdi>${round.title || t('round.untitled')}</bdi> <span class="pill ${round.frozen ? 'pill-frozen' : ''}">${round.frozen ? t('round.frozen') : t(`phase.${round.phase}`)}</span>`;
