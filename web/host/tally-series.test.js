import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TallySeries } from './tally-series.js';

const tally = (at, taps, more = {}) => ({ round: 'a', at, taps, claimed_cents: taps * 10, online: 5, ...more });

test('taps a second are counted over the last second', () => {
  const series = new TallySeries();
  for (let i = 0; i <= 8; i++) series.add(tally(1000 + i * 250, i * 25));
  assert.deepEqual(series.tapsPerSecond.map(Math.round), [0, 100, 100, 100, 100, 100, 100, 100, 100]);
  series.add(tally(4000, 200));
  series.add(tally(5000, 200));
  assert.equal(series.tapsPerSecond.at(-1), 0, 'nobody taps any more');
  assert.deepEqual(series.claimedCents.at(-1), 2000);
});

test('repeated and older tallies are ignored, and counters that begin anew are no negative peak', () => {
  const series = new TallySeries();
  assert.equal(series.add(tally(1000, 10)), true);
  assert.equal(series.add(tally(1000, 10)), false);
  assert.equal(series.add(tally(900, 5)), false);
  series.add(tally(2000, 0));
  assert.deepEqual(series.tapsPerSecond, [0, 0]);
});

test('another round begins anew, and between rounds nothing is drawn', () => {
  const series = new TallySeries();
  series.add(tally(1000, 10));
  assert.equal(series.add(tally(1500, 0, { round: '' })), false);
  series.add(tally(2000, 3, { round: 'b' }));
  assert.deepEqual([series.round, series.times], ['b', [2]]);
});

test('a tally that no instance dated is not drawn', () => {
  const series = new TallySeries();
  assert.equal(series.add(tally(0, 0)), false);
  series.add(tally(2000, 3));
  assert.deepEqual(series.times, [2]);
});
