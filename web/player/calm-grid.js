/** @import {Drop} from '../shared/messages.js' */

/** How many drops one can choose from at a time. */
export const CELLS = 12;

/** A packet waits this long for somebody who reads, listens or tabs; a bomb goes sooner. */
const PACKET_STAYS_MS = 9000;
const BOMB_STAYS_MS = 4000;

/** A drop has its cell for good, the same on every device. @param {number} drop */
export const cellOf = (drop) => (drop - 1) % CELLS;

/** @param {Drop} drop */
const staysFor = (drop) => (drop.kind === 'bomb' ? BOMB_STAYS_MS : PACKET_STAYS_MS);

/**
 * The rain as a grid: what began to fall stands still in its cell until it was tapped or has stood there long enough.
 * Nothing comes in its place while one is about to tap it.
 */
export class CalmGrid {
  /** What stands in each cell. @type {(Drop|null)[]} */
  cells = Array(CELLS).fill(null);

  /**
   * @param {Map<number, Drop>} drops in the order of their fall; those that are of no more use are taken out
   * @param {number} elapsed ms since the round's start; NaN: unknown
   * @param {(drop: number) => boolean} isDone
   * @returns {boolean} whether a cell has changed
   */
  update(drops, elapsed, isDone) {
    /** @param {Drop|null} drop @returns {drop is Drop} */
    const stands = (drop) => drop !== null && elapsed >= drop.at_ms && elapsed < drop.at_ms + staysFor(drop) && !isDone(drop.drop);
    /** @type {(Drop|null)[]} */
    const next = this.cells.map((drop) => (stands(drop) ? drop : null));
    for (const [id, drop] of drops) {
      if (elapsed >= drop.at_ms + PACKET_STAYS_MS) drops.delete(id);
      else if (stands(drop) && !next[cellOf(id)]) next[cellOf(id)] = drop;
    }
    const changed = next.some((drop, cell) => drop !== this.cells[cell]);
    if (changed) this.cells = next;
    return changed;
  }
}

/**
 * Where an arrow key leads from a cell, within a grid of so many columns; the same cell where there is no other.
 * @param {number} cell
 * @param {string} key
 * @param {number} columns
 */
export function cellBeside(cell, key, columns) {
  const steps = /** @type {Record<string, number>} */ ({ ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns });
  const next = cell + (steps[key] ?? 0);
  return next >= 0 && next < CELLS ? next : cell;
}
