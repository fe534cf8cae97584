import { t } from '../shared/i18n.js';
import { RankList } from '../shared/rank-list.js';
import { html } from '../shared/view.js';
import { WinnerList } from '../shared/winner-list.js';
import { AnnounceBox } from './announce-box.js';
import { HealthCard } from './health-card.js';
import { ShareCard } from './share-card.js';

/** @import {Live} from '../shared/live.js' */

/** What stays beside the rounds. @param {{code: string, live: Live}} props */
export function RoomSide({ code, live }) {
  const tally = live.store.roundTally.value;
  return html`<aside class="room-side">
    <${ShareCard} code=${code} live=${live} />
    <${AnnounceBox} code=${code} />
    <section class="card"><h2>${t('ranks.title')}</h2><${RankList} ranks=${tally?.top ?? []} /></section>
    <section class="card"><h2>${t('winners.title')}</h2><${WinnerList} winners=${tally?.winners ?? []} /></section>
    <${HealthCard} connection=${live.connection} />
  </aside>`;
}
