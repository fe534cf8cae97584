import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secondsLeft, stageAt, untilNextTick } from './phase.js';

const round = /** @type {any} */ ({ id: 'r', phase: 'countdown', starts_at: 10_000, ends_at: 40_500 });

test('a round is open in [starts_at, ends_at)', () => {
  const stages = [[9_999, 'countdown'], [10_000, 'raining'], [40_499, 'raining'], [40_500, 'closed']];
  for (const [now, stage] of stages) assert.equal(stageAt(round, now), stage, String(now));
});

test('what the server said already happened is believed over the clock', () => {
  assert.equal(stageAt({ ...round, phase: 'raining' }, 9_990), 'raining');
  assert.equal(stageAt({ ...round, phase: 'closed' }, 12_000), 'closed');
  assert.equal(stageAt({ ...round, phase: 'settled' }, 0), 'closed');
});

test('no round, and a draft, are in the stage waiting', () => {
  assert.equal(stageAt(null, 5), 'waiting');
  assert.equal(stageAt({ ...round, phase: 'draft', starts_at: 0, ends_at: 0 }, 5), 'waiting');
});

test('ticks fall on the full seconds before the start and before the end', () => {
  assert.equal(untilNextTick(round, 9_400), 600);
  assert.equal(untilNextTick(round, 9_000), 1000);
  assert.equal(untilNextTick(round, 10_000), 500);
  assert.equal(untilNextTick(round, 40_500), 0);
  assert.equal(untilNextTick({ ...round, phase: 'closed' }, 20_000), 0);
  assert.equal(untilNextTick(null, 1), 0);
  assert.equal(untilNextTick(round, NaN), 0);
});

test('seconds count down to 1 and then 0', () => {
  assert.deepEqual([7_000, 7_001, 8_000, 9_999, 10_000, 11_000].map((now) => secondsLeft(10_000, now)), [3, 3, 2, 1, 0, 0]);
});
