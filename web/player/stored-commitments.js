import { recall, remember } from '../shared/device-settings.js';

/** @import {Round} from '../shared/messages.js' */

const NAME = 'commitments';
const MOST_KEPT = 30;

/** @typedef {[round: string, commitment: string]} Noted */

/** @returns {Noted[]} */
function all() {
  try {
    const kept = JSON.parse(recall(NAME) ?? '[]');
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

/**
 * Notes on this device what a round was committed to while it could still be played: later, all that was told of it could be
 * committed to as well. The first one stays, whatever the server says later.
 * @param {Round} round
 */
export function noteCommitment({ id, phase, commitment }) {
  if (!commitment || !['countdown', 'raining'].includes(phase)) return;
  const noted = all();
  if (noted.some(([round]) => round === id)) return;
  remember(NAME, JSON.stringify([...noted, [id, commitment]].slice(-MOST_KEPT)));
}

/** The commitment that this device noted, or '' if it was not there in time. @param {string} round */
export const notedCommitment = (round) => all().find(([id]) => id === round)?.[1] ?? '';
