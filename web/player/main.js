/**
 * The page /r/CODE : a player in a room, from a phone.
 *
 * body[data-phase]: loading, failed, entry (a nickname is wanted), waiting, countdown, raining, closed.
 * data-test: nickname, join, error-nickname; room-name, you, online (data-count); countdown; rain (the canvas), seconds,
 * sum (own claims, data-cents), claims-count (data-count), verdict (data-verdict), held; reason (data-reason), claim
 * (data-drop, data-cents), own-rank (data-rank), rank (data-rank); message, action; connection (data-state), language, toast.
 * window.redrain.drops(): the drops that a touch of their centre would tap now, [{drop, kind, at_ms, lane, x, y, width,
 * height}], centres in CSS px of the viewport (some are still above its top). Taps are real pointer events on the canvas.
 */
import { codeInPath, startPage } from '../shared/page.js';
import { html } from '../shared/view.js';
import { PlayerPage, roomName } from './player-page.js';

startPage(() => html`<${PlayerPage} code=${codeInPath()} />`, roomName);
