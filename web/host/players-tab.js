import { asApiError } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { showToast } from '../shared/toast.js';
import { html, useState } from '../shared/view.js';
import { matches } from './claims-order.js';
import { Confirm } from './dialog.js';
import { DoorsCard } from './doors-card.js';
import { blockPlayer, getDoors, listPlayers } from './host-api.js';
import { PlayerRow } from './player-row.js';
import { SearchBox } from './search-box.js';
import { useFresh } from './use-fresh.js';

/** @import {Live} from '../shared/live.js' */
/** @import {Guest} from './host-api.js' */

const PAGE = 100;

/**
 * Who is in the room, and who may come in.
 * @param {{code: string, live: Live}} props
 */
export function PlayersTab({ code, live }) {
  const players = useFresh(() => listPlayers(code), live.store, ['players_changed']);
  const room = useFresh(() => getDoors(code), live.store, ['room_changed']);
  const [sought, setSought] = useState('');
  const [shown, setShown] = useState(PAGE);
  const [asking, setAsking] = useState(/** @type {Guest|null} */ (null));

  /** @param {Guest} player */
  const changed = (player) => players.set({ players: (players.value?.players ?? []).map((one) => (one.id === player.id ? player : one)) });
  /** @param {Guest} player @param {boolean} blocked */
  const block = (player, blocked) => {
    setAsking(null);
    blockPlayer(code, player.id, blocked).then((answer) => changed(answer.player), (error) => showToast(asApiError(error).text, 'bad'));
  };

  const all = players.value?.players ?? [];
  const found = all.filter(({ nickname }) => matches(nickname, sought));
  return html`<div class="room-columns">
    <section class="card players" data-test="players" data-count=${all.length}>
      <h2>${t('players.title', { n: all.length })}</h2>
      <${SearchBox} value=${sought} label=${t('players.search')} test="players-search" onInput=${setSought} />
      ${players.error && html`<p class="empty" role="alert">${players.error}</p>`}
      ${!players.value && !players.error && html`<p class="empty">${t('loading')}</p>`}
      ${players.value && all.length === 0 && html`<p class="empty" data-test="no-players">${t('players.empty')}</p>`}
      ${all.length > 0 && found.length === 0 && html`<p class="empty">${t('search.nothing')}</p>`}
      <ul class="players-list">${found.slice(0, shown).map((player) => html`<${PlayerRow} key=${player.id} code=${code} player=${player} changed=${changed}
        block=${(/** @type {Guest} */ one, /** @type {boolean} */ blocked) => (blocked ? setAsking(one) : block(one, false))} />`)}</ul>
      ${found.length > shown && html`<button type="button" class="button button-plain" onClick=${() => setShown(shown + PAGE)}>${t('players.more', { n: found.length - shown })}</button>`}
    </section>
    <aside class="room-side">
      ${room.value && html`<${DoorsCard} room=${room.value.room} changed=${(/** @type {any} */ next) => room.set({ room: next })} />`}
    </aside>
    ${asking && html`<${Confirm} title=${t('block.title')} text=${t('block.text')} yes=${t('players.block')} onYes=${() => block(asking, true)} onNo=${() => setAsking(null)} />`}
  </div>`;
}
