import { asApiError, getRoom, previewRound } from '../shared/api.js';
import { ConnectionBadge } from '../shared/connection-badge.js';
import { errorText } from '../shared/error-text.js';
import { FullMessage } from '../shared/full-message.js';
import { t } from '../shared/i18n.js';
import { connectRoom } from '../shared/live-room.js';
import { Name } from '../shared/name-text.js';
import { listenForNotices } from '../shared/notices.js';
import { showPhase } from '../shared/start-page.js';
import { TallyAge } from '../shared/tally-refresh.js';
import { keepAwake } from '../shared/wake-lock.js';
import { html, signal, useEffect, useSignalEffect, useState } from '../shared/view.js';
import { Controls } from './controls.js';
import { CountdownScene } from './countdown-scene.js';
import { EndScene } from './end-scene.js';
import { PlayingScene } from './playing-scene.js';
import { TotalsBand } from './totals-band.js';
import { WaitingScene } from './waiting-scene.js';

/** @import {Live} from '../shared/live-room.js' */
/** @import {Store} from '../shared/store.js' */

/** @type {import('../vendor/signals-core.js').Signal<Live|null>} */
const live = signal(null);

export const roomName = () => live.value?.store.room.value?.name ?? '';

/** @param {string} code */
function connect(code) {
  live.value?.close();
  const next = connectRoom(code, 'screen', () => diagnose(code));
  listenForNotices(next.store);
  live.value = next;
}

/**
 * Why a socket did not open. A browser says whose page it is only where something may change, so that is asked by what everybody
 * but a host is refused.
 * @param {string} code
 */
async function diagnose(code) {
  const refused = await getRoom(code).then(() => null, asApiError);
  if (refused) return refused.isRefusal ? 'room_not_found' : '';
  const other = await previewRound({}).then(() => null, asApiError);
  return other?.code === 'origin_refused' ? other.code : '';
}

/** @param {{code: string}} props */
export function ScreenPage({ code }) {
  useEffect(() => connect(code), [code]);
  useEffect(keepAwake, []);
  const celebrated = useCelebrated(live.value?.store ?? null);
  useSignalEffect(() => {
    const { store, connection } = live.value ?? {};
    if (connection?.state.value === 'ended') showPhase('failed');
    else showPhase(store?.room.value ? store.stage.value : 'loading');
  });
  if (!live.value) return html`<${FullMessage} text=${t('loading')} />`;
  const { store, connection } = live.value;
  const scene = chooseScene(store, celebrated);
  if (connection.state.value === 'ended') return html`<${Ended} reason=${connection.reason.value} again=${() => connect(code)} />`;
  return html`<div class="screen">
    <header class="screen-top">
      ${scene === 'waiting' ? html`<div class="screen-room"><${TotalsBand} live=${live.value} code=${code} /></div>` // its name stands below, large
        : html`<h1 class="screen-room" data-test="room-name"><${Name} text=${store.room.value?.name ?? ''} /></h1>`}
      <${Controls} />
      <${TallyAge} refresher=${live.value.refresher} />
      <${ConnectionBadge} connection=${connection} />
      <span class="screen-online" data-test="online" data-count=${store.online.value}>${t('online', { n: store.online.value })}</span>
    </header>
    <${Scene} scene=${scene} live=${live.value} code=${code} />
  </div>`;
}

/** @param {{reason: string, again: () => void}} props */
const Ended = ({ reason, again }) =>
  html`<${FullMessage} text=${reason === 'room_not_found' || reason === 'origin_refused' ? errorText(reason, '') : t('ended.connection')} action=${t('action.retry')} onAction=${again} home />`;

/** How long the podium is shown before the QR code. */
const PODIUM_MS = 60_000;

/**
 * Whether the last round's podium has been shown for long enough, so that whoever came late finds the QR code large again.
 * @param {Store|null} store
 */
function useCelebrated(store) {
  const [round, setRound] = useState('');
  const id = store?.round.value?.id ?? '';
  const over = store?.stage.value === 'closed';
  useEffect(() => {
    if (!over) return undefined;
    const timer = setTimeout(() => setRound(id), PODIUM_MS);
    return () => clearTimeout(timer);
  }, [id, over]);
  return over && round === id;
}

/**
 * What to show: a round that nobody won anything in leaves nothing to celebrate.
 * @param {Store} store
 * @param {boolean} celebrated
 */
function chooseScene({ room, stage, roundTally }, celebrated) {
  if (!room.value) return 'loading';
  if (stage.value !== 'closed') return stage.value;
  return !celebrated && roundTally.value && roundTally.value.claimed_packets > 0 ? 'closed' : 'waiting';
}

/** @param {{scene: string, live: Live, code: string}} props */
function Scene({ scene, live: now, code }) {
  switch (scene) {
    case 'loading': return html`<${FullMessage} text=${t('loading')} />`;
    case 'countdown': return html`<${CountdownScene} live=${now} code=${code} />`;
    case 'raining': return html`<${PlayingScene} live=${now} code=${code} />`;
    case 'closed': return html`<${EndScene} live=${now} code=${code} />`;
    default: return html`<${WaitingScene} live=${now} code=${code} />`;
  }
}
