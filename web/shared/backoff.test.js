import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shouldReconnect, reconnectDelay } from './backoff.js';

test('the range of a close code says whether to come back', () => {
  for (const code of [1000, 1001, 1006, 1011, 4000, 4001, 4002, 4003, 4099]) assert.ok(shouldReconnect(code), String(code));
  for (const code of [1003, 1007, 1009, 4500, 4501, 4599]) assert.ok(!shouldReconnect(code), String(code));
});

test('delays grow from half a second to fifteen', () => {
  assert.equal(reconnectDelay(0, 0), 500);
  assert.equal(reconnectDelay(0, 1), 1000);
  assert.equal(reconnectDelay(3, 1), 8000);
  assert.equal(reconnectDelay(5, 1), 15_000);
  assert.equal(reconnectDelay(1000, 1), 15_000);
  assert.equal(reconnectDelay(1000, 0), 500);
});

test('clients that lost their server at the same moment reconnect at different times', () => {
  const delays = Array.from({ length: 100 }, (_, i) => reconnectDelay(4, i / 100));
  assert.equal(new Set(delays).size, 100);
});
