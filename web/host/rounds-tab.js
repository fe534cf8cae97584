import { asApiError, listRounds } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { isActive } from '../shared/phase.js';
import { showToast } from '../shared/toast.js';
import { html, useState } from '../shared/view.js';
import { Confirm } from './dialog.js';
import { dropDraft, orderDrafts } from './host-api.js';
import { PlanList } from './plan-list.js';
import { PresetBar } from './preset-bar.js';
import { RoundCard } from './round-card.js';
import { RoundForm } from './round-form.js';
import { emptyForm, formOf, plannedDrafts, moved } from './settings.js';
import { RoundsFile } from './rounds-file.js';
import { MorePagesButton, useMorePages } from './use-more-pages.js';

/** @import {Live} from '../shared/live-room.js' */
/** @import {Round} from '../shared/messages.js' */
/** @import {Form} from './settings.js' */

/**
 * The rounds of a room: the active one, drafts, finished ones.
 * @param {object} props
 * @param {string} props.code
 * @param {Round[]|null} props.rounds drafts, and the rounds begun last; null while they are read
 * @param {string} props.next after which round older ones begin; empty: there are none
 * @param {Live} props.live
 * @param {Form|null} props.form of the round being made
 * @param {(form: Form|null) => void} props.setForm
 * @param {(round: Round, step: 'start'|'stop'|'cancel') => void} props.act
 * @param {(round: Round) => void} props.changed
 * @param {() => void} props.refresh
 * @param {(round: Round) => void} props.rehearse
 */
export function RoundsTab({ code, rounds, next, live, form, setForm, act, changed, refresh, rehearse }) {
  const [dropping, setDropping] = useState(/** @type {Round|null} */ (null));
  const all = rounds ?? [];
  const drafts = plannedDrafts(all);
  const active = all.find(isActive);
  const { older, more } = useMorePages(next, (after) => listRounds(code, after).then((page) => ({ items: page.rounds, next: page.next })));
  const past = [...all.filter((round) => round.phase !== 'draft' && !isActive(round)), ...older];

  /** @param {Promise<unknown>} done */
  const then = (done) => void done.then(refresh, (error) => { showToast(asApiError(error).text, 'bad'); refresh(); });
  /** @param {Round} round */
  const copy = (round) => open(formOf(round));
  /** @param {Form} next */
  const open = (next) => {
    setForm(next);
    scrollTo({ top: 0 });
  };
  const actions = {
    start: (/** @type {Round} */ round) => act(round, 'start'),
    move: (/** @type {Round} */ round, /** @type {number} */ by) => {
      const ids = moved(drafts.map(({ id }) => id), round.id, by);
      if (ids) then(orderDrafts(code, ids));
    },
    edit: (/** @type {Round} */ round) => open({ ...formOf(round), round: round.id }),
    drop: setDropping, copy, rehearse, changed,
  };
  const card = (/** @type {Round} */ round) => html`<${RoundCard} key=${round.id} round=${round} live=${live} act=${act} copy=${copy} />`;
  return html`
    ${active && card(active)}
    ${form ? html`<${RoundForm} key=${JSON.stringify(form)} code=${code} start=${form} online=${live.store.online.value} made=${(/** @type {Round} */ round) => { setForm(null); changed(round); showToast(t('form.created'), 'good'); }} close=${() => setForm(null)} />`
      : html`<section class="card make-round"><div class="make-row">
          <button type="button" class="button button-red button-new" data-test="new-round" onClick=${() => setForm(emptyForm)}>＋ ${t('rounds.new')}</button>
          <${RoundsFile} code=${code} some=${all.length > 0} imported=${refresh} /></div>
        <p class="field-hint">${t('presets.lead')}</p><${PresetBar} begin=${setForm} /></section>`}
    ${rounds === null && html`<p class="empty">${t('loading')}</p>`}
    ${rounds?.length === 0 && !form && html`<p class="empty" data-test="no-rounds">${t('rounds.empty')}</p>`}
    <${PlanList} drafts=${drafts} busy=${Boolean(active)} actions=${actions} />
    ${past.length > 0 && html`<h2 class="past-title">${t('rounds.past')}</h2>`}
    ${past.map(card)}
    <${MorePagesButton} more=${more} test="more-rounds" />
    ${dropping && html`<${Confirm} title=${t('drop.title')} text=${t('drop.text')} yes=${t('action.delete')}
      onYes=${() => { setDropping(null); then(dropDraft(dropping.id)); }} onNo=${() => setDropping(null)} />`}`;
}
