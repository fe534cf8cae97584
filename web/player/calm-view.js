import { t } from '../shared/i18n.js';
import { HoldBanner } from '../shared/hold-banner.js';
import { html, useEffect, useRef, useState } from '../shared/view.js';
import { CalmGame } from './calm-game.js';
import { cellBeside, CELLS } from './calm-grid.js';
import { Countdown } from './countdown-view.js';
import { exposeTestHooks } from './test-hooks.js';
import { BombOverlay } from './bomb-overlay.js';
import { Hud } from './hud.js';
import { TapStatus } from './tap-status.js';

/** @import {Live} from '../shared/live-room.js' */

const LABELS = { packet: 'calm.packet', bomb: 'calm.bomb', empty: 'calm.empty' };

/**
 * The rain as a grid of buttons, for keyboards, screen readers, and whoever wants nothing to move.
 * @param {{live: Live}} props
 */
export function CalmView({ live }) {
  const [game, setGame] = useState(/** @type {CalmGame|null} */ (null));
  const { round, stage } = live.store;
  useEffect(() => {
    if (!round.value) return undefined;
    const started = new CalmGame(live, round.value);
    setGame(started);
    exposeTestHooks({ drops: () => reachable(started) });
    return () => started.stop();
  }, [round.value?.id, round.value?.starts_at]);
  const frozen = round.value?.frozen;
  return html`<main class="rain-page calm-page ${frozen ? 'rain-on-hold' : ''}">
    ${stage.value === 'countdown' ? html`<${Countdown} live=${live} />`
      : html`<${Hud} live=${live} />${game && html`<${Grid} game=${game} />${!frozen && html`<${Said} game=${game} />`}`}`}
    ${frozen && html`<${HoldBanner} round=${round.value} />`}
    ${game && html`${!frozen && html`<${TapStatus} tapping=${game.tapping} />`}<${BombOverlay} tapping=${game.tapping} />`}
  </main>`;
}

/** @param {{game: CalmGame}} props */
function Said({ game }) {
  return html`<p class="calm-said" data-test="said" role="status">${game.said.value || t('calm.hint')}</p>`;
}

/** @param {{game: CalmGame}} props */
function Grid({ game }) {
  const grid = useRef(/** @type {HTMLElement|null} */ (null));
  const [focused, setFocused] = useState(0);
  void game.version.value;
  const move = (/** @type {KeyboardEvent} */ event) => {
    const columns = grid.current ? getComputedStyle(grid.current).gridTemplateColumns.split(' ').length : 1;
    const next = cellBeside(focused, event.key, columns);
    if (next === focused) return;
    event.preventDefault();
    setFocused(next);
    /** @type {HTMLElement|undefined} */ (grid.current?.children[next])?.focus();
  };
  return html`<div class="calm-grid" ref=${grid} role="group" aria-label=${t('calm.label')} onKeyDown=${move}>
    ${Array.from({ length: CELLS }, (_, cell) => html`<${Cell} key=${cell} game=${game} cell=${cell} tabbed=${cell === focused} onFocus=${() => setFocused(cell)} />`)}
  </div>`;
}

/** @param {{game: CalmGame, cell: number, tabbed: boolean, onFocus: () => void}} props */
function Cell({ game, cell, tabbed, onFocus }) {
  const drop = game.grid.cells[cell];
  const answer = game.answerIn(cell);
  const kind = drop ? drop.kind : 'empty';
  const words = t('rain.lucky_words').split(' ');
  return html`<button type="button" class="calm-cell calm-${kind} ${answer ? 'calm-answered' : ''}" data-test="cell" data-kind=${kind}
    data-drop=${drop?.drop} aria-disabled=${!drop} aria-busy=${game.isPending(cell)}
    tabindex=${tabbed ? 0 : -1} onFocus=${onFocus} onClick=${() => game.press(cell)}>
    <span class="visually-hidden">${t(LABELS[kind], { number: cell + 1 })}</span>
    ${answer ? html`<span class="calm-answer">${answer}</span>`
      : drop && html`<span class="calm-mark" aria-hidden="true">${drop.kind === 'bomb' ? '✕' : words[drop.drop % words.length]}</span>`}
  </button>`;
}

/** @param {CalmGame} game */
function reachable(game) {
  const now = performance.now();
  return [...document.querySelectorAll('.calm-cell')].flatMap((button, cell) => {
    const drop = game.grid.cells[cell];
    if (!drop || !game.tapping.log.mayTap(drop.drop, now)) return [];
    const { left, top, width, height } = button.getBoundingClientRect();
    return [{ ...drop, x: left + width / 2, y: top + height / 2, width, height }];
  });
}
