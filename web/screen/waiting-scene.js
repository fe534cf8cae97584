import { qrAddress } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { useJoinAddress } from '../shared/join-address.js';
import { Name } from '../shared/name-text.js';
import { NextRound } from '../shared/next-round.js';
import { html } from '../shared/view.js';
import { WelcomeBand } from './welcome-band.js';

/** @import {Live} from '../shared/live-room.js' */

/**
 * Before a round: how to join, as large as possible.
 * @param {{live: Live, code: string}} props
 */
export function WaitingScene({ live, code }) {
  const { urls, reachable, at } = useJoinAddress(code);
  return html`<main class="wait">
  <div class="wait-words">
    <p class="wait-product">${t('product')}</p>
    <h1 class="wait-title" data-test="room-name"><${Name} text=${live.store.room.value?.name ?? ''} /></h1>
    <${NextRound} live=${live} code=${code} />
    <p class="wait-lead">${t('screen.scan')}</p>
    <p class="wait-label">${t('screen.or', { host: new URL(urls[at]).host })}</p>
    ${!reachable && html`<p class="wait-warning" role="alert" data-test="not-reachable">${t('share.unreachable')}</p>`}
    <p class="wait-code" data-test="join-code" data-code=${code}>${code}</p>
  </div>
  <div class="wait-frame"><img class="wait-qr" data-test="qr" src=${qrAddress(code, at)} alt=${t('share.qr')} width="480" height="480" /></div>
  <footer class="wait-foot"><${WelcomeBand} live=${live} /></footer>
</main>`;
}
