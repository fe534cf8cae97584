import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, test } from 'node:test';
import { fakeTime } from '../testing/fake-time.js';
import { Clock } from './clock.js';
import { ping, tap } from './messages.js';
import { Store } from './store.js';

const fixtures = new URL('../../internal/wire/fixtures/', import.meta.url);
const fixture = (name) => JSON.parse(readFileSync(new URL(name, fixtures), 'utf8'));
const server = (name) => fixture(`server/${name}.json`);

/** @type {Store[]} */
const stores = [];

/** A store whose server time starts at the welcome's and stands still unless moved. */
function setUp() {
  const time = { at: 0 };
  const store = new Store(new Clock(() => time.at));
  stores.push(store);
  return { store, time };
}

/** One that got the welcome of the fixtures. */
function welcomed() {
  const r = setUp();
  r.store.receive(server('welcome'));
  return r;
}

afterEach(() => {
  for (const store of stores.splice(0)) store.stop();
});

test('every message of the server is accepted, and leaves a trace', () => {
  const traces = {
    welcome: (store) => store.you.value?.nickname === '小明' && store.room.value?.code === 'HAPPY8',
    round: (store) => store.round.value?.title === '年会第一场',
    drops: (store) => store.drops.get(18)?.kind === 'bomb',
    result: (store) => store.ownCents.value === 612,
    claim: (store) => store.claims.value[0]?.number === 2,
    tally: (store) => store.roundTally.value?.claimed_cents === 1500 && store.online.value === 500 && store.arrivals.value[0]?.nickname === '小红',
    notice: (_, told) => told.some((message) => message.type === 'notice'),
    error: (_, told) => told.some((message) => message.code === 'bad_frame'),
    pong: (store) => store.moment.value > 0,
  };
  for (const file of readdirSync(new URL('server/', fixtures))) {
    const name = file.replace('.json', '');
    assert.ok(name in traces, `${file} has no expectation here`);
    const { store, time } = setUp();
    const told = [];
    store.listen((message) => told.push(message));
    if (name !== 'welcome' && name !== 'pong') store.receive({ ...server('welcome'), claims: [], drops: [] });
    time.at = name === 'pong' ? 1234567 : time.at;
    store.receive(server(name));
    assert.ok(traces[name](store, told), file);
  }
});

test('what the page sends is what the fixtures say', () => {
  const sent = {
    'ping.json': ping(1234567),
    'tap.json': tap('11111111-2222-4333-8444-555555555555', 17),
  };
  for (const file of readdirSync(new URL('client/', fixtures))) {
    assert.equal(JSON.stringify(sent[file]), readFileSync(new URL(`client/${file}`, fixtures), 'utf8').trim(), file);
  }
});

test('a reload in the middle of a round has everything from the welcome', () => {
  const { store } = welcomed();
  assert.equal(store.stage.value, 'raining');
  assert.equal(store.ownCents.value, 612);
  assert.deepEqual([store.drops.size, store.received.size], [2, 2]);
  assert.equal(store.roundTally.value?.left_packets, 98);
  assert.ok(store.witnessed.value);
});

test('a page that was away when its round was put on hold knows from the welcome, and why', () => {
  const { store } = welcomed();
  assert.equal(store.round.value?.frozen, false);
  const welcome = server('welcome');
  store.receive({ ...welcome, round: { ...welcome.round, frozen: true, hold: 'keys_lost' } });
  assert.deepEqual([store.round.value?.frozen, store.round.value?.hold], [true, 'keys_lost']);
  store.receive({ type: 'round', round: welcome.round });
  assert.deepEqual([store.round.value?.frozen, store.round.value?.hold], [false, '']);
});

test('a tally of a lower epoch, or a lower serial in the same epoch, is ignored', () => {
  const { store } = welcomed();
  const tally = server('tally');
  store.receive({ ...tally, serial: 40, claimed_cents: 1 });
  store.receive({ ...tally, epoch: 2, serial: 99, claimed_cents: 1 });
  assert.equal(store.tally.value?.claimed_cents, 1500);
  store.receive({ ...tally, serial: 42, claimed_cents: 1600 });
  assert.equal(store.tally.value?.claimed_cents, 1600);
  store.receive({ ...tally, epoch: 4, serial: 1, claimed_cents: 1700 });
  assert.equal(store.tally.value?.claimed_cents, 1700, 'another instance took over');
});

test('a welcome of an instance that lags does not take the totals back, one of a server begun anew does', () => {
  const { store } = welcomed();
  const welcome = server('welcome');
  store.receive({ ...welcome, tally: { ...welcome.tally, serial: 7, claimed_cents: 1 } });
  assert.equal(store.tally.value?.claimed_cents, 1500);
  store.receive({ ...welcome, tally: { ...welcome.tally, epoch: 1, serial: 1, claimed_cents: 2 } });
  assert.equal(store.tally.value?.claimed_cents, 2);
});

test('a tally over HTTP is newer by its claims, whatever its instance had heard', () => {
  const { store } = welcomed();
  const { round } = server('round');
  const read = (change) => store.read({ round, tally: { ...server('tally'), ...change } });
  const shown = () => { const { claimed_packets, epoch, serial, online, taps } = store.tally.value; return [claimed_packets, epoch, serial, online, taps]; };
  read({ claimed_packets: 30 });
  assert.deepEqual(shown(), [30, 3, 41, 500, 2345], 'the same epoch and serial, newer counts');
  read({ claimed_packets: 29 });
  assert.equal(shown()[0], 30, 'fewer claims are older');
  read({ claimed_packets: 31, epoch: 0, serial: 0, at: 0, online: 0, taps: 0 });
  assert.deepEqual(shown(), [31, 3, 41, 500, 2345], 'of an instance without the room only what it counted is taken');
  read({ claimed_packets: 32, epoch: 3, serial: 50, taps: 3000 });
  assert.deepEqual(shown(), [32, 3, 50, 500, 3000]);
  store.receive({ ...server('tally'), serial: 49, claimed_packets: 60 });
  assert.equal(shown()[2], 50, 'messages are in their order');
});

test('a tally over HTTP is not taken back by what was said before it', () => {
  const { store, time } = welcomed();
  const told = { ...server('tally'), claimed_packets: 5 };
  store.read({ round: server('round').round, tally: { ...told, claimed_packets: 30 } });
  store.receive({ ...told, serial: 42 });
  assert.equal(store.tally.value?.claimed_packets, 30, 'a message that was on its way');
  store.receive({ ...server('welcome'), tally: told });
  assert.equal(store.tally.value?.claimed_packets, 30, 'the welcome of an instance that still hears nothing');
  time.at += 6_000;
  store.receive({ ...told, serial: 43 });
  assert.equal(store.tally.value?.claimed_packets, 5, 'claims may be lost: later messages are believed');
});

test('what HTTP says of another round than the one shown is ignored', () => {
  const { store } = welcomed();
  const { round } = server('round');
  store.read({ round: { ...round, id: 'x', phase: 'settled' }, tally: { ...server('tally'), round: 'x' } });
  store.read({ round, tally: { ...server('tally'), round: 'x', claimed_packets: 90 } });
  assert.deepEqual([store.round.value?.id, store.stage.value, store.tally.value?.claimed_packets], [round.id, 'raining', 2]);
});

test('how old a tally is counts from the last one of the shown round, not from one said again', () => {
  const { store, time } = setUp();
  const at = (now, message) => { time.at = now; store.receive(message); return store.talliedAt.value; };
  const welcome = server('welcome');
  assert.equal(at(1000, welcome), 1000);
  assert.equal(at(2000, { ...server('tally'), serial: 42 }), 2000);
  assert.equal(at(3000, { ...welcome, tally: { ...welcome.tally, serial: 42 } }), 2000, 'a welcome has what was heard last');
  assert.equal(at(4000, { ...server('tally'), serial: 43, round: 'x' }), 2000);
  assert.equal(at(5000, { type: 'round', round: { ...server('round').round, id: 'y' } }), 5000, 'a new round has its time to be counted');
});

test('a win is counted at once, and once, whichever of result and claim come in whatever order', () => {
  const claim = { ...server('claim').claim, number: 3, drop: 40, cents: 5 };
  const result = { ...server('result'), drop: 40, cents: 5, number: 3 };
  for (const order of [['result', 'claim'], ['claim', 'result'], ['result', 'result', 'claim', 'claim']]) {
    const { store } = welcomed();
    for (const type of order) store.receive(type === 'result' ? result : { type: 'claim', claim });
    assert.equal(store.ownCents.value, 617, order.join());
    assert.deepEqual(store.claims.value.map(({ number }) => number), [2, 3], order.join());
  }
});

test('two tabs list the same packets in the same order, whichever of them won which', () => {
  const won = [{ number: 5, drop: 41, cents: 8 }, { number: 3, drop: 40, cents: 5 }, { number: 9, drop: 42, cents: 7 }];
  const lists = [[0, 1, 2], [2, 0, 1], [1, 2, 0]].map((order, tab) => {
    const { store } = welcomed();
    for (const at of order) {
      if (at === tab) store.receive({ ...server('result'), ...won[at] });
      else store.receive({ type: 'claim', claim: { ...server('claim').claim, ...won[at] } });
    }
    return store.claims.value.map(({ drop }) => drop);
  });
  assert.deepEqual(lists, [[17, 40, 41, 42], [17, 40, 41, 42], [17, 40, 41, 42]]);
});

test('a busy answer is overridden by the claim', () => {
  const { store } = welcomed();
  store.receive({ ...server('result'), drop: 41, outcome: 'busy', cents: 0 });
  assert.equal(store.ownCents.value, 612);
  store.receive({ type: 'claim', claim: { ...server('claim').claim, number: 9, drop: 41, cents: 8 } });
  assert.equal(store.ownCents.value, 620);
});

test('another round starts from nothing, and late messages of the old one do not leak into it', () => {
  const { store } = welcomed();
  const next = { ...server('round').round, id: '99999999-2222-4333-8444-555555555555', phase: 'countdown', starts_at: 1800000020000, ends_at: 1800000050000 };
  store.receive({ type: 'round', round: next });
  store.receive(server('claim'));
  store.receive(server('result'));
  store.receive(server('drops'));
  assert.equal(store.ownCents.value, 0);
  assert.deepEqual([store.drops.size, store.received.size], [0, 0]);
  assert.equal(store.roundTally.value, null);
  assert.equal(store.stage.value, 'countdown');
});

test('phases never go back', () => {
  const { store } = welcomed();
  const round = server('round').round;
  store.receive({ type: 'round', round: { ...round, phase: 'closed', reason: 'stopped' } });
  store.receive({ type: 'round', round });
  assert.equal(store.stage.value, 'closed');
  assert.equal(store.round.value?.reason, 'stopped');
});

test('the stage follows the server clock, without any message', (t) => {
  const timers = fakeTime();
  t.after(timers.restore);
  const { store, time } = setUp();
  const pass = (ms) => { time.at += ms; timers.pass(ms); };
  const welcome = server('welcome');
  store.receive({ ...welcome, now: 1800000007600, round: { ...welcome.round, phase: 'countdown' } });
  assert.equal(store.stage.value, 'countdown');
  const seen = new Set();
  for (let i = 0; i < 24; i++) { seen.add(Math.ceil((1800000010000 - store.moment.value) / 1000)); pass(100); }
  assert.deepEqual([...seen], [3, 2, 1], 'every second is shown');
  pass(50);
  assert.equal(store.stage.value, 'raining');
  for (let i = 0; i < 301; i++) pass(100);
  assert.equal(store.stage.value, 'closed');
});

test('who comes after the round was not there', () => {
  const { store } = setUp();
  const welcome = server('welcome');
  store.receive({ ...welcome, claims: [], round: { ...welcome.round, phase: 'closed' } });
  assert.equal(store.witnessed.value, false);
});

test('a room without a round waits', () => {
  const { store } = setUp();
  const welcome = server('welcome');
  store.receive({ ...welcome, round: null, claims: [], drops: [], tally: { ...welcome.tally, round: '' } });
  assert.equal(store.stage.value, 'waiting');
  assert.equal(store.online.value, 500);
  assert.equal(store.roundTally.value, null);
});
