import { secondsLeft } from '../shared/phase.js';
import { playCue } from '../shared/sound-effects.js';
import { effect } from '../shared/view.js';
import { keepAwake } from '../shared/wake-lock.js';
import { noteCommitment } from './stored-commitments.js';

/** @import {Live} from '../shared/live-room.js' */

/** The last seconds are heard. */
const HEARD_SECONDS = 5;

/**
 * Effects of a round on the device: sounds and vibration in sync with the server's clock, a wake lock, and the commitment, which
 * is stored before the secret is published.
 * @param {Live} live
 * @returns {() => void} stops it
 */
export function followRounds({ store }) {
  const ends = [effect(() => {
    if (store.stage.value !== 'countdown' && store.stage.value !== 'raining') return undefined;
    return keepAwake();
  })];
  let before = '';
  ends.push(effect(() => {
    const round = store.round.value;
    const stage = store.stage.value;
    const seconds = stage === 'countdown' && round ? secondsLeft(round.starts_at, store.moment.value) : 0;
    const now = `${stage} ${seconds}`;
    if (now === before) return;
    if (stage === 'countdown' && seconds <= HEARD_SECONDS && before) playCue('tick');
    if (stage === 'raining' && before.startsWith('countdown')) playCue('go');
    if (stage === 'closed' && before.startsWith('raining')) playCue(store.claims.peek().length > 0 ? 'cheer' : 'missed');
    if (round && stage !== 'waiting') noteCommitment(round);
    before = now;
  }));
  return () => ends.forEach((end) => end());
}
