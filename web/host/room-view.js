import { asApiError, checkHostSession, listRounds, moveRound } from '../shared/api.js';
import { ConnectionBadge } from '../shared/connection-badge.js';
import { t } from '../shared/i18n.js';
import { connectRoom } from '../shared/live-room.js';
import { Name } from '../shared/name-text.js';
import { listenForNotices } from '../shared/notices.js';
import { showPhase } from '../shared/start-page.js';
import { isActive } from '../shared/phase.js';
import { TallyAge } from '../shared/tally-refresh.js';
import { showToast } from '../shared/toast.js';
import { html, useEffect, useMemo, useState, useSignalEffect } from '../shared/view.js';
import { BooksTab } from './books-tab.js';
import { Confirm } from './dialog.js';
import { PlayersTab } from './players-tab.js';
import { RehearsalsTab } from './rehearsals-tab.js';
import { tabAddress, RoomTabs } from './room-tabs.js';
import { RoomSide } from './room-sidebar.js';
import { RoundsTab } from './rounds-tab.js';
import { withCurrent } from './plan-list.js';
import { emptyForm, plannedDrafts } from './settings.js';
import { ShortcutHelp, useShortcuts } from './shortcuts.js';
import { useServerData } from './coalesced-reader.js';

/** @import {Round} from '../shared/messages.js' */
/** @import {Form} from './settings.js' */
/** @import {Tab} from './room-tabs.js' */

/** @typedef {'start'|'stop'|'cancel'} RoundStep */

/**
 * One room as its host sees it.
 * @param {{code: string, tab: Tab, loggedOut: () => void}} props
 */
export function RoomView({ code, tab, loggedOut }) {
  const live = useMemo(() => connectRoom(code, 'host', () => checkHostSession().then(() => '', (error) => (asApiError(error).isRefusal ? 'session_ended' : ''))), [code]);
  const { store, connection } = live;
  const current = store.round.value;
  const fresh = useServerData(({ signal }) => listRounds(code, '', signal), { store, codes: ['rounds_changed'], also: [current?.id, current?.phase, current?.frozen, current?.hold] });
  const [form, setForm] = useState(/** @type {Form|null} */ (null));
  const [stopping, setStopping] = useState(/** @type {Round|null} */ (null));
  const [rehearsed, setRehearsed] = useState('');
  const [helping, setHelping] = useState(false);
  const rounds = fresh.value && withCurrent(fresh.value.rounds, current);

  useEffect(() => {
    const deaf = listenForNotices(store);
    return () => {
      deaf();
      live.close();
    };
  }, [live]);
  useEffect(() => { if (fresh.error) showToast(fresh.error, 'bad'); }, [fresh.error]);
  useSignalEffect(() => showPhase(store.you.value ? store.stage.value : 'loading'));
  useSignalEffect(() => { if (connection.state.value === 'ended' && connection.reason.value === 'session_ended') loggedOut(); });

  /** @param {Round} round */
  const changed = (round) => fresh.change((known) => ({ rounds: merged(known?.rounds ?? [], round), next: known?.next ?? '' }));
  /** @param {Round} round @param {RoundStep} step */
  async function move(round, step) {
    setStopping(null);
    try {
      changed((await moveRound(round.id, step)).round);
    } catch (error) {
      showToast(asApiError(error).text, 'bad');
      fresh.refresh();
    }
  }
  /** @param {Round} round @param {RoundStep} step */
  const act = (round, step) => (step === 'stop' ? setStopping(round) : void move(round, step));
  /** @param {Tab} to */
  const go = (to) => () => { location.hash = tabAddress(code, to); };
  const active = rounds?.find(isActive);
  useShortcuts({
    new: () => { go('rounds')(); setForm(emptyForm); },
    start: () => { const next = plannedDrafts(rounds ?? [])[0]; if (next && !active) act(next, 'start'); },
    stop: () => { if (active) setStopping(active); },
    announce: () => document.getElementById('announce')?.focus(),
    rounds: go('rounds'), players: go('players'), books: go('books'), rehearsals: go('rehearsals'),
    help: () => setHelping(true),
  });

  return html`<main class="room">
    <header class="room-head">
      <a class="quiet-button room-back" href="#" data-test="back">← ${t('rooms.title')}</a>
      <h1 class="room-name" data-test="room-title"><${Name} text=${store.room.value?.name ?? code} /></h1>
      <${ConnectionBadge} connection=${connection} />
      <${TallyAge} refresher=${live.refresher} />
      <button type="button" class="quiet-button" data-test="show-keys" aria-label=${t('keys.title')} title=${t('keys.title')} onClick=${() => setHelping(true)}>⌨</button>
    </header>
    <${RoomTabs} code=${code} tab=${tab} />
    ${tab === 'players' && html`<${PlayersTab} code=${code} live=${live} />`}
    ${tab === 'books' && html`<${BooksTab} code=${code} live=${live} />`}
    ${tab === 'rehearsals' && html`<${RehearsalsTab} code=${code} rounds=${rounds ?? []} chosen=${rehearsed} live=${live} />`}
    ${tab === 'rounds' && html`<div class="room-columns">
      <section class="room-rounds"><${RoundsTab} code=${code} rounds=${rounds} next=${fresh.value?.next ?? ''} live=${live} form=${form} setForm=${setForm} act=${act} changed=${changed}
        refresh=${fresh.refresh} rehearse=${(/** @type {Round} */ round) => { setRehearsed(round.id); go('rehearsals')(); }} /></section>
      <${RoomSide} code=${code} live=${live} />
    </div>`}
    ${stopping && html`<${Confirm} title=${t('stop.title')} text=${t('stop.text')} yes=${t('action.stop')} onYes=${() => move(stopping, 'stop')} onNo=${() => setStopping(null)} />`}
    ${helping && html`<${ShortcutHelp} close=${() => setHelping(false)} />`}
  </main>`;
}

/** A list with a round in its newest form, or with a new one in front. @param {Round[]} rounds @param {Round} round */
const merged = (rounds, round) => (rounds.some(({ id }) => id === round.id) ? rounds.map((one) => (one.id === round.id ? round : one)) : [round, ...rounds]);
