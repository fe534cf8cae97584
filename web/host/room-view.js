import { asApiError, listRooms, listRounds, moveRound } from '../shared/api.js';
import { ConnectionBadge } from '../shared/connection-badge.js';
import { t } from '../shared/i18n.js';
import { goLive } from '../shared/live.js';
import { Name } from '../shared/name.js';
import { listenForNotices } from '../shared/notices.js';
import { showPhase } from '../shared/page.js';
import { RankList } from '../shared/rank-list.js';
import { showToast } from '../shared/toast.js';
import { html, useEffect, useMemo, useState, useSignalEffect } from '../shared/view.js';
import { WinnerList } from '../shared/winner-list.js';
import { Confirm } from './dialog.js';
import { RoundCard } from './round-card.js';
import { RoundForm } from './round-form.js';
import { inOrder, withCurrent } from './round-order.js';
import { emptyForm, formOf } from './settings.js';
import { ShareCard } from './share-card.js';

/** @import {Round} from '../shared/messages.js' */
/** @import {Form} from './settings.js' */

/** @typedef {'start'|'stop'|'cancel'} RoundStep */

/**
 * One room as its host sees it.
 * @param {{code: string, loggedOut: () => void}} props
 */
export function RoomView({ code, loggedOut }) {
  const live = useMemo(() => goLive(code, 'host', () => listRooms().then(() => '', (error) => (asApiError(error).isRefusal ? 'session_ended' : ''))), [code]);
  const [rounds, setRounds] = useState(/** @type {Round[]|null} */ (null));
  const [form, setForm] = useState(/** @type {Form|null} */ (null));
  const [asking, setAsking] = useState(/** @type {{round: Round, step: RoundStep}|null} */ (null));
  const { store, connection } = live;
  const current = store.round.value;

  const load = () => listRounds(code).then((answer) => setRounds(answer.rounds), (error) => showToast(asApiError(error).text, 'bad'));
  useEffect(() => {
    const deaf = listenForNotices(store);
    const seen = () => void (document.visibilityState === 'visible' && load());
    document.addEventListener('visibilitychange', seen);
    return () => {
      document.removeEventListener('visibilitychange', seen);
      deaf();
      live.close();
    };
  }, [live]);
  useEffect(() => void load(), [code, current?.id, current?.phase]);
  useSignalEffect(() => showPhase(store.you.value ? store.stage.value : 'loading'));
  useSignalEffect(() => { if (connection.state.value === 'ended' && connection.reason.value === 'session_ended') loggedOut(); });

  /** @param {Round} round @param {RoundStep} step */
  async function move(round, step) {
    setAsking(null);
    try {
      const moved = (await moveRound(round.id, step)).round;
      setRounds((known) => (known ?? []).map((one) => (one.id === moved.id ? moved : one)));
    } catch (error) {
      showToast(asApiError(error).text, 'bad');
      void load();
    }
  }
  /** @param {Round} round @param {RoundStep} step */
  const act = (round, step) => (step === 'stop' ? setAsking({ round, step }) : void move(round, step));
  /** @param {Round} round */
  const made = (round) => {
    setForm(null);
    setRounds([round, ...(rounds ?? [])]);
    showToast(t('form.created'), 'good');
  };

  const listed = inOrder(withCurrent(rounds ?? [], current));
  return html`<main class="room">
    <header class="room-head">
      <a class="quiet-button room-back" href="#" data-test="back">← ${t('rooms.title')}</a>
      <h1 class="room-name" data-test="room-title"><${Name} text=${store.room.value?.name ?? code} /></h1>
      <${ConnectionBadge} connection=${connection} />
    </header>
    <div class="room-columns">
      <section class="room-rounds">
        ${form ? html`<${RoundForm} key=${JSON.stringify(form)} code=${code} start=${form} made=${made} close=${() => setForm(null)} />`
          : html`<button type="button" class="button button-red button-new" data-test="new-round" onClick=${() => setForm(emptyForm)}>＋ ${t('rounds.new')}</button>`}
        ${rounds === null && html`<p class="empty">${t('loading')}</p>`}
        ${rounds?.length === 0 && !form && html`<p class="empty" data-test="no-rounds">${t('rounds.empty')}</p>`}
        ${listed.map((round) => html`<${RoundCard} key=${round.id} round=${round} live=${live} act=${act} copy=${(/** @type {Round} */ copied) => { setForm(formOf(copied)); scrollTo({ top: 0 }); }} />`)}
      </section>
      <aside class="room-side">
        <${ShareCard} code=${code} live=${live} />
        <section class="card"><h2>${t('ranks.title')}</h2><${RankList} ranks=${store.roundTally.value?.top ?? []} /></section>
        <section class="card"><h2>${t('winners.title')}</h2><${WinnerList} winners=${store.roundTally.value?.winners ?? []} /></section>
      </aside>
    </div>
    ${asking && html`<${Confirm} title=${t('stop.title')} text=${t('stop.text')} yes=${t('action.stop')} onYes=${() => move(asking.round, asking.step)} onNo=${() => setAsking(null)} />`}
  </main>`;
}
