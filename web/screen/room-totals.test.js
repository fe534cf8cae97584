import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sumRounds } from './room-totals.js';

const round = (id, change = {}) => ({ id, phase: 'settled', reason: 'time', rehearsal: false, ...change });
const past = (id, packets, cents) => ({ round: round(id), claimed_packets: packets, claimed_cents: cents });
const tally = (packets, cents) => ({ claimed_packets: packets, claimed_cents: cents });

test('all finished rounds are summed', () => {
  assert.deepEqual(sumRounds([], null, null), { rounds: 0, packets: 0, cents: 0 });
  assert.deepEqual(sumRounds([past('a', 3, 500), past('b', 2, 88)], null, null), { rounds: 2, packets: 5, cents: 588 });
});

test('the round that just ended counts once, as the screen shows it', () => {
  const ended = round('b', { phase: 'closed' });
  assert.deepEqual(sumRounds([past('a', 3, 500)], ended, tally(2, 88)), { rounds: 2, packets: 5, cents: 588 });
  assert.deepEqual(sumRounds([past('b', 0, 0), past('a', 3, 500)], ended, tally(2, 88)), { rounds: 2, packets: 5, cents: 588 });
});

test('what gives no money away does not count', () => {
  for (const change of [{ rehearsal: true }, { reason: 'cancelled' }, { phase: 'raining' }, { phase: 'draft' }]) {
    assert.deepEqual(sumRounds([], round('b', change), tally(2, 88)), { rounds: 0, packets: 0, cents: 0 }, JSON.stringify(change));
  }
});
