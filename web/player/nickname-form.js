import { asApiError, joinRoom } from '../shared/api.js';
import { fileAddress } from '../shared/file-address.js';
import { t } from '../shared/i18n.js';
import { Name } from '../shared/name-text.js';
import { NicknameField, rememberedNickname, rememberNickname } from '../shared/nickname-field.js';
import { html, useState } from '../shared/view.js';

/** @import {Room} from '../shared/messages.js' */

/**
 * The entry for who came by the QR code.
 * @param {{room: Room, joined: () => void}} props
 */
export function NicknameForm({ room, joined }) {
  const [nickname, setNickname] = useState(rememberedNickname());
  const [refused, setRefused] = useState(/** @type {import('../shared/api.js').ApiError|null} */ (null));
  const [busy, setBusy] = useState(false);

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    setBusy(true);
    setRefused(null);
    try {
      await joinRoom(room.code, nickname);
      rememberNickname(nickname);
      joined();
    } catch (error) {
      setRefused(asApiError(error));
      setBusy(false);
    }
  }

  return html`<main class="entry">
    <img class="entry-packet" src=${fileAddress('packet.svg')} alt="" width="112" height="150" />
    <h1 class="entry-room" data-test="room-name"><${Name} text=${room.name} /></h1>
    <p class="entry-lead">${t('entry.lead')}</p>
    <form class="card entry-form" onSubmit=${submit} novalidate>
      <${NicknameField} value=${nickname} onInput=${setNickname} error=${refused ? refused.text : ''} />
      <button class="button button-gold button-wide" data-test="join" disabled=${busy}>${t('entry.go')}</button>
    </form>
  </main>`;
}
