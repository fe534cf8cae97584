import { asApiError } from '../shared/api.js';
import { languageTag, t } from '../shared/i18n.js';
import { Name } from '../shared/name.js';
import { showToast } from '../shared/toast.js';
import { html, useEffect, useRef, useState } from '../shared/view.js';
import { renamePlayer } from './host-api.js';

/** @import {Guest} from './host-api.js' */

/**
 * One player: who it is, another name, out or in again.
 * @param {{code: string, player: Guest, editing: boolean, edit: (id: string) => void, changed: (player: Guest) => void,
 *   block: (player: Guest, blocked: boolean) => void}} props
 */
export function PlayerRow({ code, player, editing, edit, changed, block }) {
  const row = useRef(/** @type {HTMLElement|null} */ (null));
  const wasEditing = useRef(false);
  useEffect(() => { // the focus goes with what was pressed
    const to = editing ? 'input' : wasEditing.current ? '[data-test="rename"]' : '';
    wasEditing.current = editing;
    if (to) /** @type {HTMLElement|null|undefined} */ (row.current?.querySelector(to))?.focus();
  }, [editing]);
  const name = `player-${player.id}`;
  return html`<li ref=${row} class="player ${player.blocked ? 'player-blocked' : ''}" data-test="player" data-player=${player.id} data-blocked=${player.blocked}>
    ${editing ? html`<${RenameForm} code=${code} player=${player} changed=${changed} close=${() => edit('')} />`
    : html`<span class="player-name" id=${name}><${Name} text=${player.nickname} />
        ${player.own && html`<span class="pill">${t('players.own')}</span>`}
        ${player.blocked && html`<span class="pill pill-raining">${t('players.blocked')}</span>`}</span>
      <time class="player-joined" datetime=${new Date(player.joined_at).toISOString()}>${moment(player.joined_at)}</time>
      <span class="player-buttons">
        <button type="button" class="button button-plain" data-test="rename" aria-describedby=${name} onClick=${() => edit(player.id)}>${t('players.rename')}</button>
        <button type="button" class="button button-plain" data-test=${player.blocked ? 'unblock' : 'block'} aria-describedby=${name} onClick=${() => block(player, !player.blocked)}>
          ${t(player.blocked ? 'players.unblock' : 'players.block')}</button>
      </span>`}
  </li>`;
}

/** @param {{code: string, player: Guest, changed: (player: Guest) => void, close: () => void}} props */
function RenameForm({ code, player, changed, close }) {
  const [typed, setTyped] = useState(player.nickname);
  const [busy, setBusy] = useState(false);

  /** @param {Event} event */
  async function rename(event) {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      changed((await renamePlayer(code, player.id, typed)).player);
      close();
    } catch (error) {
      showToast(asApiError(error).text, 'bad');
      setBusy(false);
    }
  }
  return html`<form class="player-rename" onSubmit=${rename} onKeyDown=${(/** @type {KeyboardEvent} */ event) => { if (event.key === 'Escape') close(); }}>
    <input class="input" data-test="new-name" autocomplete="off" maxlength="200" aria-label=${t('nickname.label')} value=${typed}
      onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ event) => setTyped(event.currentTarget.value)} />
    <button class="button button-red" data-test="save-name" aria-busy=${busy}>${t('action.save')}</button>
    <button type="button" class="button button-plain" onClick=${close}>${t('action.close')}</button>
  </form>`;
}

/** Making a format takes longer than using it. @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();

/** @param {number} ms */
function moment(ms) {
  const tag = languageTag();
  const format = formats.get(tag) ?? new Intl.DateTimeFormat(tag, { dateStyle: 'short', timeStyle: 'short' });
  formats.set(tag, format);
  return format.format(ms);
}
