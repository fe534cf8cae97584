import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Retry } from './retry.js';

test('what failed is done again by itself, later and later, and soon again after a success', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  let done = 0;
  const retry = new Retry(() => { done++; }, () => 1);
  for (const delay of [1000, 2000, 4000]) {
    retry.plan();
    const before = done;
    mock.timers.tick(delay - 1);
    assert.equal(done, before);
    mock.timers.tick(1);
    assert.equal(done, before + 1);
  }
  retry.succeeded();
  retry.plan();
  mock.timers.tick(1000);
  assert.equal(done, 4);
  mock.timers.reset();
});

test('a device that wakes does not wait, and nothing is done unless it is planned', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  let done = 0;
  const retry = new Retry(() => { done++; });
  retry.now();
  assert.equal(done, 0);
  retry.plan();
  retry.now();
  assert.equal(done, 1);
  mock.timers.tick(60_000);
  assert.equal(done, 1);
  retry.plan();
  retry.cancel();
  mock.timers.tick(60_000);
  assert.equal(done, 1);
  mock.timers.reset();
});
