import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { fakeTime } from '../testing/fake-time.js';
import { Connection } from './socket.js';

/** Stands for the browser's WebSocket; the test plays the server. */
class Line {
  readyState = 0;
  /** @type {any[]} */
  sent = [];
  closed = false;

  accept() {
    this.readyState = 1;
    this.onopen?.();
    this.say({ type: 'welcome' });
  }

  say(message) {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  send(text) {
    this.sent.push(JSON.parse(text));
  }

  hangUp(code, reason = '') {
    this.readyState = 3;
    this.onclose?.({ code, reason });
  }

  close() {
    this.readyState = 3;
    this.closed = true;
  }
}

/** @type {ReturnType<typeof fakeTime>} */
let time;

beforeEach(() => { time = fakeTime(); });
afterEach(() => time.restore());

function setUp(options = {}) {
  const lines = [];
  const heard = [];
  const connection = new Connection({
    url: 'ws://here/ws', receive: (message) => heard.push(message), stamp: time.now, random: () => 0,
    dial: () => lines[lines.push(new Line()) - 1], ...options,
  });
  connection.open();
  return { connection, lines, heard, last: () => lines[lines.length - 1] };
}

test('is open once the server said welcome', () => {
  const { connection, last, heard } = setUp();
  assert.equal(connection.state.value, 'connecting');
  assert.equal(connection.send({ type: 'ping', sent: 1 }), false, 'nothing is sent before');
  last().accept();
  assert.equal(connection.state.value, 'open');
  assert.equal(heard[0].type, 'welcome');
});

test('pings at once a few times for the clock, then every ten seconds', () => {
  const { last } = setUp();
  last().accept();
  time.pass(1300);
  assert.equal(last().sent.length, 3);
  for (let i = 0; i < 3; i++) {
    time.pass(10_000);
    last().say({ type: 'pong', sent: 0, now: 0 });
  }
  assert.equal(last().sent.length, 6);
  assert.ok(last().sent.every((frame) => frame.type === 'ping' && Number.isInteger(frame.sent)));
});

test('a lost connection is opened again, later each time', () => {
  const { connection, lines, last } = setUp({ random: () => 1 });
  const waits = [];
  for (let i = 0; i < 4; i++) {
    last().hangUp(1006);
    assert.equal(connection.state.value, 'waiting');
    const known = lines.length;
    let waited = 0;
    while (lines.length === known) { time.pass(50); waited += 50; }
    waits.push(waited);
  }
  assert.deepEqual(waits, [1000, 2000, 4000, 8000]);
});

test('delays start small again only after a connection held', () => {
  const { lines, last } = setUp({ random: () => 1 });
  for (let i = 0; i < 3; i++) { last().hangUp(1006); time.pass(15_000); }
  last().accept();
  last().hangUp(4003); // welcomed and thrown out: that did not hold
  const before = lines.length;
  time.pass(1000);
  assert.equal(lines.length, before);
  time.pass(14_000);
  last().accept();
  time.pass(6000);
  last().hangUp(4000);
  const then = lines.length;
  time.pass(1000);
  assert.equal(lines.length, then + 1);
});

test('a session that ended does not come back, and says why', () => {
  const { connection, lines, last } = setUp();
  last().accept();
  last().hangUp(4500, 'session_ended');
  time.pass(60_000);
  assert.equal(connection.state.value, 'ended');
  assert.equal(connection.reason.value, 'session_ended');
  assert.equal(lines.length, 1);
});

test('a refused upgrade is looked into, since the browser hides its status', async () => {
  const { connection, lines, last } = setUp({ diagnose: async () => 'room_not_found' });
  last().hangUp(1006);
  await new Promise((resolve) => setImmediate(resolve));
  time.pass(60_000);
  assert.equal(connection.state.value, 'ended');
  assert.equal(connection.reason.value, 'room_not_found');
  assert.equal(lines.length, 1);
});

test('a server that cannot be asked is tried again', async () => {
  const { connection, lines, last } = setUp({ diagnose: () => Promise.reject(new Error('offline')) });
  last().hangUp(1006);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(connection.state.value, 'waiting');
  time.pass(1000);
  assert.equal(lines.length, 2);
});

test('a line that went silent while it says open is given up', () => {
  const { connection, lines, last } = setUp();
  last().accept();
  time.pass(31_000);
  assert.ok(lines[0].closed);
  assert.notEqual(connection.state.value, 'open');
  time.pass(1000);
  assert.equal(lines.length, 2);
  last().accept();
  assert.equal(connection.state.value, 'open');
});

test('a phone that wakes with a dead socket comes back within seconds', () => {
  const { connection, lines, last } = setUp();
  last().accept();
  time.pass(2000);
  time.skip(600_000); // asleep: the timers stood still, the socket died, its state still says open
  connection.wake();
  assert.equal(lines[0].sent.at(-1).sent, time.now(), 'probed at once');
  time.pass(3100);
  assert.ok(lines[0].closed);
  time.pass(500);
  assert.equal(lines.length, 2);
});

test('a phone that wakes with a living socket keeps it', () => {
  const { connection, lines, last } = setUp();
  last().accept();
  time.pass(2000);
  time.skip(600_000);
  connection.wake();
  time.pass(200);
  last().say({ type: 'pong', sent: time.now(), now: 0 });
  time.pass(3100);
  assert.equal(connection.state.value, 'open');
  assert.equal(lines.length, 1);
});

test('waking ends a planned wait', () => {
  const { connection, lines, last } = setUp({ random: () => 1 });
  for (let i = 0; i < 5; i++) { last().hangUp(1006); time.pass(15_000); }
  last().hangUp(1006);
  const before = lines.length;
  connection.wake();
  assert.equal(lines.length, before + 1);
});

test('an attempt that hangs is given up', () => {
  const { lines } = setUp();
  time.pass(10_600);
  assert.ok(lines[0].closed);
  assert.equal(lines.length, 2);
});

test('frames that are no JSON are passed over', () => {
  const { heard, last } = setUp();
  last().accept();
  last().onmessage({ data: '{' });
  last().onmessage({ data: new ArrayBuffer(1) });
  assert.equal(heard.length, 1);
});
