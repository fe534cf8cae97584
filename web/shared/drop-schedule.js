/**
 * What falls in a round, where and when, from the secret of a settled one. The rules are the server's own
 * (internal/game/schedule.go), written once more; testdata/fair.json holds the two against each other.
 */
import { Draws } from './random-draws.js';

/** @import {Drop, Round} from './messages.js' */

const LANES = 1000;
/** So many drops are worked out before others get a turn. */
const DROPS_AT_ONCE = 2000;

/**
 * All drops of a round in the order of their fall: one in each slot of 1/drops_per_second, with three draws for its kind, its
 * lane, and its delay within the slot. pause is awaited every now and then, so that the page stays alive.
 * @param {Round} round with its secret
 * @param {() => Promise<unknown>} [pause]
 */
export async function computeSchedule({ secret, duration_ms: duration, drops_per_second: perSecond, bomb_percent: bombs }, pause = async () => {}) {
  const draws = new Draws(secret, 'drop');
  const slotStart = (/** @type {number} */ i) => Math.floor((i * 1000) / perSecond);
  const count = Math.floor((duration * perSecond) / 1000);
  /** @type {Drop[]} */
  const drops = [];
  for (let i = 0; i < count; i++) {
    const slot = slotStart(i);
    const kind = draws.at(3 * i) % 100 < bombs ? 'bomb' : 'packet';
    const lane = draws.at(3 * i + 1) % LANES;
    const at = slot + (draws.at(3 * i + 2) % Math.max(slotStart(i + 1) - slot, 1));
    if (drops.push({ drop: i + 1, kind, at_ms: at, lane }) % DROPS_AT_ONCE === 0) await pause();
  }
  return drops;
}

/** Those of some drops that are not in the schedule as they are. @param {Drop[]} drops @param {Drop[]} schedule */
export const findWrongDrops = (drops, schedule) => drops.filter(({ drop, kind, at_ms: at, lane }) => {
  const due = schedule[drop - 1];
  return due?.kind !== kind || due.at_ms !== at || due.lane !== lane;
});
