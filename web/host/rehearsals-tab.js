import { asApiError, getRound } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { money } from '../shared/money.js';
import { showToast } from '../shared/toast.js';
import { html, useEffect, useState } from '../shared/view.js';
import { TextField } from './field.js';
import { listRehearsals, rehearse } from './host-api.js';
import { RehearsalReport } from './rehearsal-report.js';
import { parseUnits } from '../shared/money.js';
import { isOver } from '../shared/phase.js';
import { StaleNote, useServerData } from './coalesced-reader.js';

/** @import {Live} from '../shared/live-room.js' */
/** @import {Round} from '../shared/messages.js' */

const LOOK_MS = 1000;

/**
 * Rehearsals: bots play a copy of a round in a hidden room.
 * @param {{code: string, rounds: Round[], chosen: string, live: Live}} props chosen: the round to offer first
 */
export function RehearsalsTab({ code, rounds, chosen, live }) {
  const list = useServerData(({ signal }) => listRehearsals(code, signal), { store: live.store, codes: ['rehearsals_changed'] });
  const [round, setRound] = useState(chosen || rounds[0]?.id || '');
  const [wish, setWish] = useState({ players: '50', taps: '2' });
  const [refused, setRefused] = useState({ field: '', text: '' });
  const rehearsals = list.value?.rehearsals ?? [];
  const running = rehearsals.find(({ state }) => state === 'running');
  const tally = useRunning(running?.round ?? '', list.refresh);
  const picked = rounds.some(({ id }) => id === round) ? round : rounds[0]?.id;

  /** @param {Event} event */
  async function begin(event) {
    event.preventDefault();
    setRefused({ field: '', text: '' });
    const players = parseUnits(wish.players, 0);
    const taps = parseUnits(wish.taps, 0);
    if (players === null || taps === null) return setRefused({ field: players === null ? 'players' : 'taps_per_second', text: t('error.not_a_number') });
    try {
      await rehearse(code, { round: picked, players, taps_per_second: taps });
      list.refresh();
    } catch (failure) {
      const error = asApiError(failure);
      if (error.field) setRefused({ field: error.field, text: t(`limit.bots_${error.field}`) });
      else showToast(error.code === 'room_busy' ? t('rehearsal.busy') : error.text, 'bad');
    }
  }

  const said = tally ? t('rehearsal.progress', { taps: tally.taps, claimed: money(tally.claimed_cents), n: tally.online }) : t('rehearsal.gathering');
  return html`<div class="room-columns">
    <section class="room-rounds">
      ${list.error && html`<${StaleNote} error=${list.error} known=${list.value !== null} retry=${list.refresh} />`}
      ${!list.value && !list.error && html`<p class="empty">${t('loading')}</p>`}
      ${list.value && rehearsals.length === 0 && html`<p class="empty" data-test="no-rehearsals">${t('rehearsal.empty')}</p>`}
      ${rehearsals.map((one) => html`<${RehearsalReport} key=${one.round} rehearsal=${one} running=${said} />`)}
    </section>
    <aside class="room-side rehearse-side">
      <form class="card rehearse" onSubmit=${begin} novalidate>
        <h2>${t('rehearsal.title')}</h2>
        <p class="field-hint">${t('rehearsal.lead')}</p>
        ${rounds.length === 0 ? html`<p class="empty">${t('rehearsal.no_round')}</p>` : html`
          <label class="field"><span class="field-label">${t('rehearsal.round')}</span>
            <select class="input" data-test="rehearse-round" value=${picked} onChange=${(/** @type {{currentTarget: HTMLSelectElement}} */ event) => setRound(event.currentTarget.value)}>
              ${rounds.map((one) => html`<option key=${one.id} value=${one.id}>${one.title || t('round.untitled')} · ${money(one.total_cents)}</option>`)}
            </select></label>
          <${TextField} name="bots_players" value=${wish.players} error=${refused.field === 'players' ? refused.text : ''} onInput=${(/** @type {string} */ players) => setWish({ ...wish, players })} />
          <${TextField} name="bots_taps_per_second" value=${wish.taps} unit=${t('unit.per_second')} error=${refused.field === 'taps_per_second' ? refused.text : ''} onInput=${(/** @type {string} */ taps) => setWish({ ...wish, taps })} />
          <button class="button button-red" data-test="rehearse" disabled=${Boolean(running)}>${t('rehearsal.go')}</button>`}
      </form>
    </aside>
  </div>`;
}

/**
 * The tally of a running rehearsal, read once a second.
 * @param {string} round @param {() => void} over called when the round is over: the report comes soon
 */
function useRunning(round, over) {
  const { value } = useServerData(({ signal }) => (round ? getRound(round, signal) : Promise.resolve(null)), { also: [round], every: (answer) => (answer ? LOOK_MS : 0) });
  const seen = value?.round.id === round && value.round.phase !== 'draft' ? value : null;
  useEffect(() => { if (seen && isOver(seen.round)) over(); }, [seen]);
  return seen?.tally ?? null;
}
