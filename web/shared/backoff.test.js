import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comesBack, delayBefore } from './backoff.js';

test('the range of a close code says whether to come back', () => {
  for (const code of [1000, 1001, 1006, 1011, 4000, 4001, 4002, 4003, 4099]) assert.ok(comesBack(code), String(code));
  for (const code of [1003, 1007, 1009, 4500, 4501, 4599]) assert.ok(!comesBack(code), String(code));
});

test('delays grow from half a second to fifteen', () => {
  assert.equal(delayBefore(0, 0), 500);
  assert.equal(delayBefore(0, 1), 1000);
  assert.equal(delayBefore(3, 1), 8000);
  assert.equal(delayBefore(5, 1), 15_000);
  assert.equal(delayBefore(1000, 1), 15_000);
  assert.equal(delayBefore(1000, 0), 500);
});

test('a crowd that lost its server at one moment spreads out', () => {
  const delays = Array.from({ length: 100 }, (_, i) => delayBefore(4, i / 100));
  assert.equal(new Set(delays).size, 100);
});
