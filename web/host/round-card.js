import { asApiError, getRound } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { isActive, isOver, secondsLeft, stageAt } from '../shared/phase.js';
import { showToast } from '../shared/toast.js';
import { html, useEffect, useState } from '../shared/view.js';
import { BooksView } from './books-view.js';
import { ClaimsTable } from './claims-table.js';
import { claimsFile, holdRound } from './host-api.js';
import { LiveCharts, Totals } from './live-charts.js';
import { PayoutsView } from './payouts-view.js';

/** @import {Live} from '../shared/live-room.js' */
/** @import {Round, Tally} from '../shared/messages.js' */

/**
 * One active or finished round.
 * @param {{round: Round, live: Live, act: (round: Round, step: 'start'|'stop'|'cancel') => void, copy: (round: Round) => void}} props
 */
export function RoundCard({ round, live, act, copy }) {
  const [open, setOpen] = useState(false);
  const { store } = live;
  const isCurrent = store.round.value?.id === round.id;
  const stage = isOver(round) ? round.phase : stageAt(round, store.moment.value);
  const tally = useTally(round, isCurrent ? store.roundTally.value : null, open);
  const state = stage === 'waiting' ? 'draft' : stage;
  return html`<article class="card round ${isActive(round) ? 'round-active' : ''}" data-test="round" data-round=${round.id} data-phase=${round.phase}>
    <header class="round-head">
      <h2 class="round-title">${round.title ? html`<bdi>${round.title}</bdi>` : t('round.untitled')}</h2>
      ${round.frozen && html`<span class="pill pill-frozen" data-test="frozen">${t('round.frozen')}</span>`}
      <span class="pill pill-${state}" data-test="round-phase">${t(`phase.${state}`)}${seconds(round, state, store.moment.value)}</span>
    </header>
    <p class="round-facts"><${Money} cents=${round.total_cents} /> · ${t('packets', { n: round.packets })} · ${t('round.lasts', { n: Math.round(round.duration_ms / 1000) })}
      ${isOver(round) && round.reason && html` · ${t(`reason.${round.reason}`)}`}</p>
    ${round.frozen && html`<${HoldCard} round=${round} />`}
    ${(isActive(round) || tally) && html`<${Totals} round=${round} tally=${tally} />`}
    ${isActive(round) && isCurrent && html`<${LiveCharts} tally=${store.roundTally.value} />`}
    <div class="round-buttons">
      ${state === 'countdown' && !round.frozen && html`<button type="button" class="button button-plain" data-test="cancel" onClick=${() => act(round, 'cancel')}>${t('action.cancel')}</button>`}
      ${(state === 'raining' || (isActive(round) && round.frozen)) && html`<button type="button" class="button button-red button-big" data-test="stop" onClick=${() => act(round, 'stop')}>${t('action.stop')}</button>`}
      <button type="button" class="button button-plain" data-test="show-claims" aria-expanded=${open} onClick=${() => setOpen(!open)}>${t(open ? 'claims.hide' : 'claims.show')}</button>
      ${isOver(round) && html`<a class="button button-plain" href=${claimsFile(round.id)} download data-test="csv">${t('claims.file')}</a>
        <a class="button button-plain" href=${claimsFile(round.id, 'xlsx')} download data-test="xlsx">${t('claims.workbook')}</a>`}
      <button type="button" class="button button-plain" data-test="copy-round" onClick=${() => copy(round)}>${t('action.copy_round')}</button>
    </div>
    ${open && html`<${BooksView} round=${round} />${round.phase === 'settled' && html`<${PayoutsView} round=${round.id} />`}
      <${ClaimsTable} round=${round.id} claimed=${tally?.claimed_packets ?? 0} />`}
  </article>`;
}

/**
 * The live tally of the current round; that of an earlier one is read when opened.
 * @param {Round} round @param {Tally|null} current @param {boolean} wanted
 */
function useTally(round, current, wanted) {
  const [stored, setStored] = useState(/** @type {Tally|null} */ (null));
  useEffect(() => {
    if (wanted && !current) getRound(round.id).then((answer) => setStored(answer.tally), () => {});
  }, [round.id, round.phase, wanted, Boolean(current)]);
  return current ?? stored;
}

/** @param {Round} round @param {string} stage @param {number} now */
function seconds(round, stage, now) {
  if (stage !== 'countdown' && stage !== 'raining') return '';
  return ` ${secondsLeft(stage === 'countdown' ? round.starts_at : round.ends_at, now)}`;
}

/**
 * Why a round is frozen, and what its host can do.
 * @param {{round: Round}} props
 */
function HoldCard({ round }) {
  const why = round.hold || 'unknown'; // comes a moment later
  const release = () => holdRound(round.id, 'release').catch((failure) => showToast(asApiError(failure).text, 'bad'));
  return html`<section class="hold-card" data-test="on-hold" data-hold=${round.hold} role="alert">
    <h3>${t(`hold_why.${why}`)}</h3>
    <p>${t(`hold_do.${why}`)}</p>
    <div class="round-buttons">
      <button type="button" class="button button-plain" data-test="release-hold" onClick=${release}>${t('books.release')}</button>
    </div>
  </section>`;
}
