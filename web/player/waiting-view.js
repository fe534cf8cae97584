import { fileAddress } from '../shared/file-address.js';
import { t } from '../shared/i18n.js';
import { Name } from '../shared/name-text.js';
import { NextRound } from '../shared/next-round.js';
import { RankList } from '../shared/rank-list.js';
import { html } from '../shared/view.js';
import { PlayersHere } from './players-here.js';
import { History } from './history.js';

/** @import {Live} from '../shared/live-room.js' */

/**
 * Before a round: who you are, who is here, what comes.
 * @param {{live: Live, code: string}} props
 */
export function Waiting({ live, code }) {
  const { room, you, round, roundTally } = live.store;
  const last = round.value && round.value.phase !== 'draft' ? roundTally.value : null;
  return html`<main class="waiting">
    <img class="waiting-packet" src=${fileAddress('packet.svg')} alt="" width="132" height="177" />
    <h1 class="waiting-room" data-test="room-name"><${Name} text=${room.value?.name ?? ''} /></h1>
    <p class="waiting-you">${t('waiting.you')} <strong data-test="you"><${Name} text=${you.value?.nickname ?? ''} /></strong></p>
    <p class="waiting-next">${round.value?.reason === 'cancelled' ? html`<span data-test="reason" data-reason="cancelled">${t('waiting.cancelled')}</span>` : t('waiting.next')}</p>
    <${NextRound} live=${live} code=${code} />
    <${PlayersHere} live=${live} />
    ${last && last.top.length > 0 && html`<section class="card waiting-last">
      <h2>${t('waiting.last')}</h2>
      <${RankList} ranks=${last.top} own=${you.value?.player} />
    </section>`}
    <${History} code=${code} />
  </main>`;
}
