import { asApiError } from '../shared/api.js';
import { languageTag, t } from '../shared/i18n.js';
import { Name } from '../shared/name.js';
import { showToast } from '../shared/toast.js';
import { html, useState } from '../shared/view.js';
import { renamePlayer } from './host-api.js';

/** @import {Guest} from './host-api.js' */

/**
 * One player: who it is, another name, out or in again.
 * @param {{code: string, player: Guest, changed: (player: Guest) => void, block: (player: Guest, blocked: boolean) => void}} props
 */
export function PlayerRow({ code, player, changed, block }) {
  const [typed, setTyped] = useState(/** @type {string|null} */ (null));

  /** @param {Event} event */
  async function rename(event) {
    event.preventDefault();
    try {
      changed((await renamePlayer(code, player.id, typed ?? '')).player);
      setTyped(null);
    } catch (error) {
      showToast(asApiError(error).text, 'bad');
    }
  }

  const joined = new Date(player.joined_at).toLocaleString(languageTag(), { dateStyle: 'short', timeStyle: 'short' });
  return html`<li class="player ${player.blocked ? 'player-blocked' : ''}" data-test="player" data-player=${player.id} data-blocked=${player.blocked}>
    ${typed === null ? html`<span class="player-name"><${Name} text=${player.nickname} />
        ${player.own && html`<span class="pill">${t('players.own')}</span>`}
        ${player.blocked && html`<span class="pill pill-raining">${t('players.blocked')}</span>`}</span>
      <span class="player-joined">${joined}</span>
      <button type="button" class="button button-plain" data-test="rename" onClick=${() => setTyped(player.nickname)}>${t('players.rename')}</button>
      <button type="button" class="button button-plain" data-test=${player.blocked ? 'unblock' : 'block'} onClick=${() => block(player, !player.blocked)}>
        ${t(player.blocked ? 'players.unblock' : 'players.block')}</button>`
    : html`<form class="player-rename" onSubmit=${rename}>
        <input class="input" data-test="new-name" autocomplete="off" maxlength="200" aria-label=${t('nickname.label')} value=${typed}
          onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ event) => setTyped(event.currentTarget.value)} />
        <button class="button button-red" data-test="save-name">${t('action.save')}</button>
        <button type="button" class="button button-plain" onClick=${() => setTyped(null)}>${t('action.close')}</button>
      </form>`}
  </li>`;
}
