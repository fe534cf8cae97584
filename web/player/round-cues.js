import { secondsLeft } from '../shared/phase.js';
import { give } from '../shared/sound.js';
import { effect } from '../shared/view.js';
import { keepAwake } from '../shared/wake-lock.js';
import { noteCommitment } from './noted-commitments.js';

/** @import {Live} from '../shared/live.js' */

/** The last seconds are heard. */
const HEARD_SECONDS = 5;

/**
 * What a round does to the device beside what is drawn: ticks that all phones give at once, since all go by the server's
 * clock; a screen that stays on; the commitment, noted while the secret is one.
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
    if (stage === 'countdown' && seconds <= HEARD_SECONDS && before) give('tick');
    if (stage === 'raining' && before.startsWith('countdown')) give('go');
    if (stage === 'closed' && before.startsWith('raining')) give(store.claims.peek().length > 0 ? 'cheer' : 'missed');
    if (round && stage !== 'waiting') noteCommitment(round);
    before = now;
  }));
  return () => ends.forEach((end) => end());
}
