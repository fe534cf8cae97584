import { asApiError, getRoom } from '../shared/api.js';
import { ConnectionBadge } from '../shared/connection-badge.js';
import { FullMessage } from '../shared/full-message.js';
import { t } from '../shared/i18n.js';
import { LanguageSwitch } from '../shared/language-switch.js';
import { goLive } from '../shared/live.js';
import { Name } from '../shared/name.js';
import { listenForNotices } from '../shared/notices.js';
import { showPhase } from '../shared/page.js';
import { html, signal, useEffect, useSignalEffect } from '../shared/view.js';
import { CountdownScene } from './countdown-scene.js';
import { EndScene } from './end-scene.js';
import { PlayingScene } from './playing-scene.js';
import { WaitingScene } from './waiting-scene.js';

/** @import {Live} from '../shared/live.js' */

/** @type {import('../vendor/signals-core.js').Signal<Live|null>} */
const live = signal(null);

export const roomName = () => live.value?.store.room.value?.name ?? '';

/** @param {string} code */
function connect(code) {
  live.value?.close();
  const next = goLive(code, 'screen', () => getRoom(code).then(() => '', (error) => (asApiError(error).isRefusal ? 'room_not_found' : '')));
  listenForNotices(next.store);
  live.value = next;
}

/** @param {{code: string}} props */
export function ScreenPage({ code }) {
  useEffect(() => connect(code), [code]);
  useSignalEffect(() => {
    const { store, connection } = live.value ?? {};
    if (connection?.state.value === 'ended') showPhase('failed');
    else showPhase(store?.room.value ? store.stage.value : 'loading');
  });
  if (!live.value) return html`<${FullMessage} text=${t('loading')} />`;
  const { store, connection } = live.value;
  if (connection.state.value === 'ended') return html`<${Ended} reason=${connection.reason.value} again=${() => connect(code)} />`;
  return html`<div class="screen">
    <header class="screen-top">
      <h1 class="screen-room" data-test="room-name"><${Name} text=${store.room.value?.name ?? ''} /></h1>
      <${ConnectionBadge} connection=${connection} />
      <span class="screen-online" data-test="online" data-count=${store.online.value}>${t('online', { n: store.online.value })}</span>
      <${LanguageSwitch} />
    </header>
    ${store.room.value ? html`<${Scene} live=${live.value} code=${code} />` : html`<${FullMessage} text=${t('loading')} />`}
  </div>`;
}

/** @param {{reason: string, again: () => void}} props */
const Ended = ({ reason, again }) =>
  html`<${FullMessage} text=${t(reason === 'room_not_found' ? 'error.room_not_found' : 'ended.connection')} action=${t('action.retry')} onAction=${again} home />`;

/** @param {{live: Live, code: string}} props */
function Scene({ live: now, code }) {
  const { stage, round, roundTally, room } = now.store;
  const waiting = html`<${WaitingScene} name=${room.value?.name ?? ''} code=${code} />`;
  switch (stage.value) {
    case 'countdown': return html`<${CountdownScene} live=${now} code=${code} />`;
    case 'raining': return html`<${PlayingScene} live=${now} code=${code} />`;
    case 'closed': return round.value && roundTally.value && roundTally.value.claimed_packets > 0
      ? html`<${EndScene} round=${round.value} tally=${roundTally.value} code=${code} />` : waiting;
    default: return waiting;
  }
}
