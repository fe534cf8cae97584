import { asApiError } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { isOver } from '../shared/phase.js';
import { showToast } from '../shared/toast.js';
import { html, useState } from '../shared/view.js';
import { Confirm } from './dialog.js';
import { replayFailed, getBooks, holdRound } from './host-api.js';
import { StaleNote, useServerData } from './coalesced-reader.js';

/** @import {Reconciliation} from './host-api.js' */
/** @import {Round} from '../shared/messages.js' */

/** How often books that are not final are read. */
const AGAIN_MS = 2000;

/**
 * The books of a round, and whether they agree.
 * @param {{round: Round}} props
 */
export function BooksView({ round }) {
  const [asking, setAsking] = useState(false);
  const { value: books, error, refresh: again } = useServerData(({ signal }) => getBooks(round.id, signal).then(({ reconciliation }) => reconciliation), {
    also: [round.id, round.phase, round.frozen],
    every: ({ in_flight: inFlight }) => (round.phase !== 'settled' || inFlight ? AGAIN_MS : 0),
  });

  /** @param {'freeze'|'release'} step */
  const hold = (step) => {
    setAsking(false);
    holdRound(round.id, step).then(again, (failure) => showToast(asApiError(failure).text, 'bad'));
  };
  const drive = () => replayFailed(round.id).then((driven) => {
    showToast(t('books.driven', { claims: driven.claims, letters: driven.dead_letters }));
    again();
  }, (failure) => showToast(asApiError(failure).text, 'bad'));
  const stale = error && html`<${StaleNote} error=${error} known=${books !== null} retry=${again} />`;
  if (!books) return stale || html`<p class="empty">${t('loading')}</p>`;
  const frozen = books.frozen || round.frozen;
  return html`<section class="books" data-test="books" data-agrees=${books.agrees}>
    <h3>${t('books.title')}</h3>
    ${stale}
    <p class="books-verdict ${books.agrees ? 'books-right' : 'books-wrong'}" data-test="books-verdict">${t(verdict(books))}</p>
    <dl class="books-sum">
      <div><dt>${t('books.budget')}</dt><dd><${Money} cents=${books.budget_cents} test="books-budget" /></dd></div>
      <div><dt>${t('books.claimed')}</dt><dd><${Money} cents=${books.ledger.claimed_cents} test="books-claimed" /></dd></div>
      <div><dt>${t('books.refunded')}</dt><dd><${Money} cents=${books.ledger.refunded_cents} test="books-refunded" /></dd></div>
      <div><dt>${t('books.held')}</dt><dd><${Money} cents=${books.ledger.escrow_cents} test="books-held" /></dd></div>
    </dl>
    ${books.differences.length > 0 && html`<ul class="books-differences">${books.differences.map((one) => html`<li key=${one.what}>
      ${t('books.difference', { what: one.what, expected: one.expected, found: one.found })}</li>`)}</ul>`}
    ${(books.ledger.quarantined > 0 || books.ledger.dead_letters > 0) && html`<p>${t('books.aside', { claims: books.ledger.quarantined, letters: books.ledger.dead_letters })}
      <button type="button" class="button button-plain" data-test="drive" onClick=${drive}>${t('books.drive')}</button></p>`}
    ${round.phase !== 'settled' && round.phase !== 'draft' && html`<div class="round-buttons">
      ${frozen ? html`<button type="button" class="button button-red" data-test="release" onClick=${() => hold('release')}>${t('books.release')}</button>`
        : html`<button type="button" class="button button-plain" data-test="freeze" onClick=${() => setAsking(true)}>${t('books.freeze')}</button>`}
      <span class="field-hint">${t(frozen ? 'books.release_hint' : 'books.freeze_hint')}</span>
    </div>`}
    ${!isOver(round) && html`<p class="field-hint">${t('books.open')}</p>`}
    ${asking && html`<${Confirm} title=${t('books.freeze_title')} text=${t('books.freeze_text')} yes=${t('books.freeze')} onYes=${() => hold('freeze')} onNo=${() => setAsking(false)} />`}
  </section>`;
}

/** @param {Reconciliation} books */
function verdict(books) {
  if (books.in_flight) return 'books.in_flight';
  return books.agrees ? 'books.agrees' : 'books.differs';
}
