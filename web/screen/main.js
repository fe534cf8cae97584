/**
 * The page /screen/CODE : the big screen.
 *
 * body[data-phase]: loading, failed, waiting, countdown, raining, closed.
 * data-test: room-name, qr, join-code (data-code), online (data-count), tally-age (data-seconds), next-round (data-at), countdown, seconds, claimed-cents and left-cents
 * (data-cents; what one sees may still be rolling there), claimed-packets and left-packets (data-count), rank (data-rank), winner
 * (data-number), podium (data-rank), reason (data-reason), totals of all rounds (data-rounds, data-packets) with totals-cents
 * (data-cents); message, action; connection (data-state), full-screen, calm, language, toast.
 */
import { codeInPath } from '../shared/join-code.js';
import { startPage } from '../shared/start-page.js';
import { html } from '../shared/view.js';
import { roomName, ScreenPage } from './screen-page.js';

startPage(() => html`<${ScreenPage} code=${codeInPath()} />`, roomName);
