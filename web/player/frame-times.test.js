import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrameTimes } from './frame-times.js';

/** Work of so many ms, by a clock of the test's own. */
function withClock(run) {
  const real = performance.now;
  let now = 0;
  performance.now = () => now;
  try {
    run((span) => () => { now += span; });
  } finally {
    performance.now = real;
  }
}

test('each frame\'s work is known, the newest last', () => withClock((lasting) => {
  const work = new FrameTimes();
  assert.deepEqual(work.list(), []);
  for (const span of [3, 1, 7]) work.measure(lasting(span));
  assert.deepEqual(work.list(), [3, 1, 7]);
}));

test('only the latest frames are kept', () => withClock((lasting) => {
  const work = new FrameTimes();
  for (let i = 1; i <= 1000; i++) work.measure(lasting(i));
  const spans = work.list();
  assert.equal(spans.length, 600);
  assert.deepEqual([spans[0], spans.at(-1)], [401, 1000]);
}));
