import { t } from '../shared/i18n.js';
import { money } from '../shared/money.js';
import { NextRound } from '../shared/next-round.js';
import { HoldBanner } from '../shared/hold-banner.js';
import { RollingMoney } from '../shared/rolling-money.js';
import { playCue } from '../shared/sound-effects.js';
import { html, useState } from '../shared/view.js';
import { checkAddress } from './check-address.js';
import { History } from './history.js';
import { OwnClaims } from './own-claims.js';
import { useOwnResult } from './own-result.js';
import { Podium } from './podium.js';

/** @import {Live} from '../shared/live-room.js' */

/** What is open, so that a look at the amounts' check does not close it again. */
const kept = { round: '', opened: /** @type {Set<number>} */ (new Set()) };

/**
 * After a round: what I won, opened packet by packet, where that puts me, and how all of it can be checked.
 * @param {{live: Live, code: string}} props
 */
export function EndView({ live, code }) {
  const { round, claims, roundTally, you, witnessed } = live.store;
  const id = round.value?.id ?? '';
  const [opened, setOpened] = useState(() => (kept.round === id ? kept.opened : new Set(witnessed.peek() ? [] : claims.peek().map(({ drop }) => drop))));
  const open = (/** @type {number[]} */ drops) => {
    playCue(drops.length > 1 ? 'cheer' : 'open');
    Object.assign(kept, { round: id, opened: new Set([...opened, ...drops]) });
    setOpened(kept.opened);
  };
  if (!round.value) return null;
  const top = roundTally.value?.top ?? [];
  return html`<main class="end">
    <p class="end-reason" data-test="reason" data-reason=${round.value.reason}>${t(`reason.${round.value.reason || 'time'}`)}</p>
    <${Sum} live=${live} opened=${opened} />
    <${HoldBanner} round=${round.value} over />
    ${claims.value.length > 0 && html`<${OwnClaims} claims=${claims.value} opened=${opened} open=${open} />`}
    ${top.length > 0 && html`<${Podium} ranks=${top} own=${you.value?.player ?? ''} />`}
    <${History} code=${code} />
    <a class="end-check" data-test="check" href=${checkAddress(round.value.id)}>${t('fair.ask')}</a>
    <${NextRound} live=${live} code=${code} />
    <p class="end-next">${t('end.next')}</p>
  </main>`;
}

/** The sum of what is open; all of it stands in data-cents. @param {{live: Live, opened: Set<number>}} props */
function Sum({ live, opened }) {
  const { round, claims, ownCents, roundTally, you } = live.store;
  const won = claims.value.length;
  const result = useOwnResult(round.value, won > 0);
  const rank = roundTally.value?.top.find(({ player }) => player === you.value?.player)?.rank ?? result?.rank ?? 0;
  const shown = claims.value.reduce((sum, { drop, cents }) => sum + (opened.has(drop) ? cents : 0), 0);
  const closed = claims.value.filter(({ drop }) => !opened.has(drop)).length;
  return html`<section class="end-card ${won ? 'end-won' : ''}">
    <h1 class="end-title">${t(won === 0 ? 'end.nothing' : closed === won ? 'end.caught' : 'end.won')}</h1>
    <p class="end-sum" style=${{ '--letters': money(ownCents.value).length }} data-test="sum" data-cents=${ownCents.value}>${won > 0 && closed === won ? t('end.unseen') : html`<${RollingMoney} cents=${shown} from=${0} />`}</p>
    <p class="end-note" data-test="claims-count" data-count=${won}>${won ? t('end.packets', { n: won }) : t('end.comfort')}</p>
    <div role="status">${closed > 0 ? html`<p class="end-closed" data-test="closed" data-count=${closed}>${t('end.closed', { n: closed })}</p>`
      : rank > 0 && html`<p class="end-rank" data-test="own-rank" data-rank=${rank}>${result ? t('end.rank_of', { rank, players: result.players }) : t('end.rank', { rank })}</p>`}</div>
  </section>`;
}
