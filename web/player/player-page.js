import { asApiError, getRoom, whoAmI } from '../shared/api.js';
import { ConnectionBadge } from '../shared/connection-badge.js';
import { t } from '../shared/i18n.js';
import { LanguageSwitch } from '../shared/language-switch.js';
import { goLive } from '../shared/live.js';
import { FullMessage } from '../shared/full-message.js';
import { listenForNotices } from '../shared/notices.js';
import { showPhase } from '../shared/page.js';
import { html, signal, useEffect, useSignalEffect } from '../shared/view.js';
import { EndView } from './end-view.js';
import { NicknameForm } from './nickname-form.js';
import { RainView } from './rain-view.js';
import { Waiting } from './waiting.js';

/** @import {ApiError} from '../shared/api.js' */
/** @import {Live} from '../shared/live.js' */
/** @import {Room} from '../shared/messages.js' */
/** @import {Store} from '../shared/store.js' */

/**
 * loading → failed (no such room, no server) or entry (a nickname is wanted) or live.
 * @typedef {{at: 'loading'} | {at: 'failed', error: ApiError} | {at: 'entry', room: Room} | {at: 'live', live: Live}} Step
 */

/** @type {import('../vendor/signals-core.js').Signal<Step>} */
const step = signal({ at: 'loading' });

/** The room's name for the title, once it is known. */
export const roomName = () => (step.value.at === 'live' ? step.value.live.store.room.value?.name ?? '' : step.value.at === 'entry' ? step.value.room.name : '');

/** @param {string} code */
async function load(code) {
  step.value = { at: 'loading' };
  try {
    const { room } = await getRoom(code);
    const known = await whoAmI(code).then(() => true, (error) => refusesEntry(asApiError(error)));
    if (known) enter(code);
    else step.value = { at: 'entry', room };
  } catch (error) {
    step.value = { at: 'failed', error: asApiError(error) };
  }
}

/** Either the server does not know this player, or it failed, which is another matter. @param {ApiError} error @returns {false} */
function refusesEntry(error) {
  if (!error.isRefusal) throw error;
  return false;
}

/** @param {string} code */
function enter(code) {
  const live = goLive(code, 'player', () => whoAmI(code).then(() => '', (error) => (asApiError(error).isRefusal ? 'session_ended' : '')));
  listenForNotices(live.store);
  step.value = { at: 'live', live };
}

/** @param {{code: string}} props */
export function PlayerPage({ code }) {
  useEffect(() => void load(code), [code]);
  const now = step.value;
  if (now.at === 'live') return html`<${LivePage} live=${now.live} code=${code} />`;
  return html`<header class="top"><span></span><${LanguageSwitch} /></header>
    <${Outside} step=${now} code=${code} />`;
}

/** @param {{step: Exclude<Step, {at: 'live'}>, code: string}} props */
function Outside({ step: now, code }) {
  useEffect(() => showPhase(now.at), [now.at]);
  if (now.at === 'entry') return html`<${NicknameForm} room=${now.room} joined=${() => enter(code)} />`;
  if (now.at === 'failed') return html`<${FullMessage} text=${now.error.text} action=${t('action.retry')} onAction=${() => load(code)} home />`;
  return html`<${FullMessage} text=${t('loading')} />`;
}

/** @param {{live: Live, code: string}} props */
function LivePage({ live, code }) {
  const { connection, store } = live;
  useSignalEffect(() => showPhase(store.you.value ? store.stage.value : 'loading'));
  const ended = connection.state.value === 'ended';
  const again = () => {
    live.close();
    void load(code);
  };
  return html`
    <header class="top top-live">
      <${ConnectionBadge} connection=${connection} />
      <${LanguageSwitch} />
    </header>
    ${ended ? html`<${FullMessage} text=${t(`ended.${connection.reason.value === 'session_ended' ? 'session' : 'connection'}`)} action=${t('action.rejoin')} onAction=${again} />`
      : html`<${Scene} live=${live} />`}`;
}

/** @param {{live: Live}} props */
function Scene({ live }) {
  const { stage, you } = live.store;
  if (!you.value) return html`<${FullMessage} text=${t('loading')} />`;
  switch (stage.value) {
    case 'countdown': case 'raining': return html`<${RainView} live=${live} />`;
    case 'closed': return played(live.store) ? html`<${EndView} live=${live} />` : html`<${Waiting} live=${live} />`;
    default: return html`<${Waiting} live=${live} />`;
  }
}

/** Whether there is something to tell of the last round: who came later, or only saw it cancelled, just waits. @param {Store} store */
const played = ({ round, witnessed, claims }) => claims.value.length > 0 || (witnessed.value && round.value?.reason !== 'cancelled');
