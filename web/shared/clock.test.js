import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Clock } from './clock.js';

/** A clock over a monotonic time that the test moves. */
function setUp() {
  const setup = { at: 1000, clock: new Clock(() => setup.at) };
  return setup;
}

/** One ping and its pong: up and down are the travel times, server the server's time when it answered. */
function exchange(setup, up, down, serverAhead) {
  const sent = setup.clock.stamp();
  setup.at += up;
  const server = setup.at + serverAhead;
  setup.at += down;
  setup.clock.pong(sent, server);
}

test('knows no time before the first message', () => {
  assert.ok(Number.isNaN(setUp().clock.now()));
});

test('takes the welcome at once and the first pong over it', () => {
  const r = setUp();
  r.clock.hint(1_800_000_000_000);
  assert.equal(r.clock.now(), 1_800_000_000_000);
  exchange(r, 20, 20, 5_000_000);
  assert.equal(r.clock.now(), r.at + 5_000_000);
});

test('believes the exchange with the shortest round trip', () => {
  const r = setUp();
  exchange(r, 10, 10, 70_000);
  exchange(r, 900, 100, 70_000); // lopsided: taken alone it would be off by 400 ms
  assert.equal(r.clock.now(), r.at + 70_000);
});

test('is right while the device is ten minutes off and its date jumps', (t) => {
  const date = t.mock.method(Date, 'now', () => 600_000);
  const r = setUp();
  exchange(r, 30, 30, 1_800_000_000_000);
  date.mock.mockImplementation(() => 99_999_999);
  r.at += 250;
  assert.equal(r.clock.now(), r.at + 1_800_000_000_000);
});

test('forgets old exchanges, so that a drifting clock is followed', () => {
  const r = setUp();
  exchange(r, 5, 5, 1000);
  for (let i = 0; i < 8; i++) exchange(r, 20, 20, 1300);
  assert.equal(r.clock.now(), r.at + 1300);
});

test('after a sleep the next exchange replaces all before it', () => {
  const r = setUp();
  exchange(r, 1, 1, 1000);
  r.clock.distrust();
  assert.equal(r.clock.now(), r.at + 1000, 'until then the old offset stands');
  exchange(r, 200, 200, 61_000);
  assert.equal(r.clock.now(), r.at + 61_000);
});

test('ignores pongs that tell nothing', () => {
  const r = setUp();
  exchange(r, 5, 5, 1000);
  r.clock.pong(r.at + 500, 42);
  r.clock.pong(r.at - 60_000, 42);
  assert.equal(r.clock.now(), r.at + 1000);
});
