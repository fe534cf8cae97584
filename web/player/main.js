/**
 * The page /r/CODE : a player in a room, from a phone. /r/CODE?token=TOKEN lets in whom the host's own app vouches for, and
 * /r/CODE#check/ROUND checks a round's amounts.
 *
 * body[data-phase]: loading, failed, entry (a nickname is wanted), waiting, countdown, raining, closed.
 * data-test: nickname, join, error-nickname; room-name, you, online (data-count), next-round (data-at); countdown; rain (the canvas) or in calm mode
 * cell (data-kind, data-drop) and said; seconds, sum (own claims, data-cents; what one sees rolls there, and counts only what is
 * open), claims-count (data-count), verdict (data-verdict), held; reason (data-reason), claim (data-drop, data-cents), open,
 * open-all, closed (data-count), own-rank (data-rank), rank (data-rank); history with own-round (data-round, data-cents) and
 * balance (data-cents); check, check-page (data-step), findings (data-right, data-algorithm, data-drops), check-covers, amount (data-number), check-back; message,
 * action; connection (data-state), sound, calm, language, toast.
 * window.redrain: see test-hooks.js. Taps are real pointer events on the canvas, or clicks on the cells.
 */
import { addWords } from '../shared/i18n.js';
import { codeInPath } from '../shared/join-code.js';
import { startPage } from '../shared/start-page.js';
import { html } from '../shared/view.js';
import { PlayerPage, roomName } from './player-page.js';
import { words as en } from './words.en.js';
import { words as zh } from './words.zh.js';

addWords({ en, zh });
startPage(() => html`<${PlayerPage} code=${codeInPath()} />`, roomName);
