import { asApiError, getOwnPlayer } from '../shared/api.js';
import { calm } from '../shared/calm-mode.js';
import { ConnectionBadge } from '../shared/connection-badge.js';
import { t } from '../shared/i18n.js';
import { connectRoom } from '../shared/live-room.js';
import { FullMessage } from '../shared/full-message.js';
import { listenForNotices } from '../shared/notices.js';
import { Retry } from '../shared/retry.js';
import { showPhase } from '../shared/start-page.js';
import { listenForFirstTouch } from '../shared/sound-effects.js';
import { html, signal, useEffect, useMemo, useSignalEffect } from '../shared/view.js';
import { CalmView } from './calm-view.js';
import { roundToCheck } from './check-address.js';
import { CheckPage } from './check-page.js';
import { EndView } from './end-view.js';
import { comeIn } from './join-steps.js';
import { NicknameForm } from './nickname-form.js';
import { RainView } from './rain-view.js';
import { followRounds } from './device-effects.js';
import { Switches } from './switches.js';
import { Waiting } from './waiting-view.js';

/** @import {ApiError, OpenRoom} from '../shared/api.js' */
/** @import {Live} from '../shared/live-room.js' */
/** @import {Store} from '../shared/store.js' */

/**
 * loading → failed (no such room, no server) or entry (a nickname is wanted) or live.
 * @typedef {{at: 'loading'} | {at: 'failed', error: ApiError} | {at: 'entry', room: OpenRoom} | {at: 'live', live: Live}} Step
 */

/** @type {import('../vendor/signals-core.js').Signal<Step>} */
const step = signal({ at: 'loading' });

/** The round that the address wants checked, or ''. */
const checked = signal(roundToCheck(location.hash));

/** @returns {() => void} stops it */
function followAddress() {
  const changed = () => { checked.value = roundToCheck(location.hash); };
  addEventListener('hashchange', changed);
  return () => removeEventListener('hashchange', changed);
}

/** A round begins: after it one wants to see what it came to, not what one read before. */
function leaveCheck() {
  history.replaceState(history.state, '', location.pathname + location.search);
  checked.value = '';
}

/** The room's name for the title, once it is known. */
export const roomName = () => (step.value.at === 'live' ? step.value.live.store.room.value?.name ?? '' : step.value.at === 'entry' ? step.value.room.name : '');

/** @param {string} code @param {Retry} retry plans the next attempt where the server could not answer */
async function load(code, retry) {
  try {
    const entry = await comeIn(code);
    retry.succeeded();
    if (entry.known) enter(code);
    else step.value = { at: 'entry', room: entry.room };
  } catch (error) {
    step.value = { at: 'failed', error: asApiError(error) };
    if (step.value.error.isTemporary) retry.plan();
  }
}

/**
 * Comes into the room, again and again while the server cannot answer.
 * @param {string} code
 * @returns {() => void} shows that it is loading, and does it now
 */
function useLoading(code) {
  const retry = useMemo(() => new Retry(() => void load(code, retry)), [code]);
  const again = () => {
    retry.cancel();
    step.value = { at: 'loading' };
    void load(code, retry);
  };
  useEffect(() => {
    again();
    return retry.listen();
  }, [retry]);
  return again;
}

/** @param {string} code */
function enter(code) {
  const live = connectRoom(code, 'player', () => getOwnPlayer(code).then(() => '', (error) => (asApiError(error).isRefusal ? 'session_ended' : '')));
  listenForNotices(live.store);
  step.value = { at: 'live', live };
}

/** @param {{code: string}} props */
export function PlayerPage({ code }) {
  const again = useLoading(code);
  useEffect(followAddress, []);
  useEffect(listenForFirstTouch, []);
  const now = step.value;
  if (now.at === 'live') return html`<${LivePage} live=${now.live} code=${code} again=${again} />`;
  return html`<header class="top"><span></span><${Switches} /></header>
    ${checked.value ? html`<${CheckPage} round=${checked.value} phase="" drops=${[]} />` : html`<${Outside} step=${now} code=${code} again=${again} />`}`;
}

/** @param {{step: Exclude<Step, {at: 'live'}>, code: string, again: () => void}} props */
function Outside({ step: now, code, again }) {
  useEffect(() => showPhase(now.at), [now.at]);
  if (now.at === 'entry') return html`<${Door} room=${now.room} code=${code} again=${again} />`;
  if (now.at === 'failed') return html`<${FullMessage} text=${now.error.text} action=${t('action.retry')} onAction=${again} home />`;
  return html`<${FullMessage} text=${t('loading')} />`;
}

/** A form for who may come in, a sentence for who may not. @param {{room: OpenRoom, code: string, again: () => void}} props */
function Door({ room, code, again }) {
  const closed = room.locked ? 'error.room_locked' : room.app_only ? 'error.app_only' : '';
  if (closed) return html`<${FullMessage} text=${t(closed)} action=${t('action.retry')} onAction=${again} home />`;
  return html`<${NicknameForm} room=${room} joined=${() => enter(code)} />`;
}

/** @param {{live: Live, code: string, again: () => void}} props again: comes into the room anew */
function LivePage({ live, code, again }) {
  const { connection, store } = live;
  useSignalEffect(() => showPhase(store.you.value ? store.stage.value : 'loading'));
  useEffect(() => followRounds(live), [live]);
  useSignalEffect(() => {
    if (checked.value && ['countdown', 'raining'].includes(store.stage.value)) leaveCheck();
  });
  const ended = connection.state.value === 'ended';
  const rejoin = () => {
    live.close();
    again();
  };
  return html`
    <header class="top top-live">
      <${ConnectionBadge} connection=${connection} />
      <${Switches} />
    </header>
    ${ended ? html`<${FullMessage} text=${endedText(connection.reason.value)} action=${t('action.rejoin')} onAction=${rejoin} />`
      : html`<${Scene} live=${live} code=${code} />`}`;
}

/** @param {string} reason of the connection's end */
function endedText(reason) {
  if (reason === 'blocked') return t('error.blocked');
  return t(reason === 'session_ended' ? 'ended.session' : 'ended.connection');
}

/** @param {{live: Live, code: string}} props */
function Scene({ live, code }) {
  const { stage, you, round, received } = live.store;
  if (!you.value) return html`<${FullMessage} text=${t('loading')} />`;
  if (stage.value === 'countdown' || stage.value === 'raining') return calm.value ? html`<${CalmView} live=${live} />` : html`<${RainView} live=${live} />`;
  if (checked.value) {
    const known = round.value?.id === checked.value ? round.value : null;
    return html`<${CheckPage} round=${checked.value} phase=${known?.phase ?? ''} drops=${known ? [...received.values()] : []} />`;
  }
  return stage.value === 'closed' && played(live.store) ? html`<${EndView} key=${round.value?.id} live=${live} code=${code} />` : html`<${Waiting} live=${live} code=${code} />`;
}

/** Whether there is something to tell of the last round: who came later, or only saw it cancelled, just waits. @param {Store} store */
const played = ({ round, witnessed, claims }) => claims.value.length > 0 || (witnessed.value && round.value?.reason !== 'cancelled');
