/**
 * The page /screen/CODE : the big screen on the wall.
 *
 * body[data-phase]: loading, failed, waiting, countdown, raining, closed.
 * data-test: room-name, qr, join-code (data-code), online (data-count), countdown, seconds, claimed-cents and left-cents
 * (data-cents), claimed-packets and left-packets (data-count), rank (data-rank), winner (data-number), podium (data-rank),
 * reason (data-reason); message, action; connection (data-state), language, toast.
 */
import { codeInPath, startPage } from '../shared/page.js';
import { html } from '../shared/view.js';
import { roomName, ScreenPage } from './screen-page.js';

startPage(() => html`<${ScreenPage} code=${codeInPath()} />`, roomName);
