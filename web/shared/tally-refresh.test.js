import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, test } from 'node:test';
import { signal } from '../vendor/signals-core.js';
import { fakeTime } from '../testing/fake-time.js';
import { Clock } from './clock.js';
import { TallyRefresher } from './tally-refresh.js';
import { Store } from './store.js';

const server = (name) => JSON.parse(readFileSync(new URL(`../../internal/wire/fixtures/server/${name}.json`, import.meta.url), 'utf8'));
const round = server('round').round;
const tally = server('tally');

/** @type {ReturnType<typeof fakeTime>} */
let time;
/** @type {(() => void)[]} */
let ends;

beforeEach(() => {
  time = fakeTime();
  ends = [];
});
afterEach(() => {
  for (const end of ends) end();
  time.restore();
});

/** A page with the welcome of the fixtures. The test answers its requests. */
function page(role = 'screen', random = () => 0) {
  const store = new Store(new Clock(time.now));
  const connection = { state: signal('connecting') };
  /** @type {{id: string, at: number, answer: (answer: object) => Promise<void>, fail: () => Promise<void>}[]} */
  const asked = [];
  const read = (id, ended) => new Promise((resolve, reject) => {
    ended.addEventListener('abort', () => reject(new Error('aborted')));
    asked.push({ id, at: time.now(), answer: (answer) => then(() => resolve(answer)), fail: () => then(() => reject(new Error('refused'))) });
  });
  const refresher = new TallyRefresher({ store, connection, role, stamp: time.now, read, random });
  ends.push(() => refresher.stop(), () => store.stop());
  connection.state.value = 'open';
  store.receive(server('welcome'));
  return { store, connection, refresher, asked, times: () => asked.map(({ at }) => at) };
}

/** Does something, and lets the page hear of it. */
async function then(action) {
  action();
  await new Promise(setImmediate);
}

/** Lets time go by in steps, in which promises are kept. */
async function pass(ms) {
  for (const end = time.now() + ms; time.now() < end;) await then(() => time.pass(Math.min(100, end - time.now())));
}

test('a screen without messages for 5 s reads the round, shows it, and reads again', async () => {
  const { store, asked, times } = page();
  await pass(4_500);
  assert.deepEqual(times(), []);
  await pass(500);
  assert.deepEqual(asked.map(({ id, at }) => [id, at]), [[round.id, 5_000]]);
  await asked[0].answer({ round, tally: { ...tally, claimed_packets: 40, left_packets: 60 } });
  assert.deepEqual([store.roundTally.value?.claimed_packets, store.talliedAt.value], [40, 5_000]);
  await pass(5_000);
  assert.deepEqual(times(), [5_000, 10_000]);
});

test('nothing is read while tallies come', async () => {
  const { store, asked, refresher } = page();
  for (let serial = 42; serial < 60; serial++) {
    store.receive({ ...tally, serial });
    await pass(2_000);
  }
  assert.deepEqual([asked.length, refresher.age.value], [0, 0]);
});

test('a round message is heard as well as a tally', async () => {
  const { store, times } = page();
  await pass(4_000);
  store.receive({ type: 'round', round });
  await pass(4_500);
  assert.deepEqual(times(), []);
  await pass(500);
  assert.deepEqual(times(), [9_000]);
});

test('phones ask after 10 to 20 s, each at a time of its own', async () => {
  const phones = [0, 0.25, 0.999].map((random) => page('player', () => random));
  await pass(20_000);
  assert.deepEqual(phones.map(({ times }) => times()), [[10_000], [12_500], [19_990]]);
});

test('one request is under way at most; one without an answer ends by itself', async () => {
  const { store, times } = page();
  await pass(5_000);
  store.receive({ ...tally, serial: 42 });
  await pass(4_900);
  assert.deepEqual(times(), [5_000]);
  await pass(10_100);
  assert.deepEqual(times(), [5_000, 20_000], 'the failed request doubled the wait');
});

test('each failure doubles the wait, until messages or an answer come', async () => {
  const { store, asked, times } = page();
  const failing = async (ms) => { for (let i = 0; i < ms; i += 500) { await pass(500); await asked.at(-1)?.fail(); } };
  await failing(120_000);
  assert.deepEqual(times(), [5_000, 15_000, 35_000, 75_000, 115_000]);
  store.receive({ ...tally, serial: 42 });
  await pass(5_000);
  assert.equal(times().at(-1), 125_000);
});

test('a round that is over turns the phase though its message never came, and is asked for until it is settled', async () => {
  const { store, asked } = page();
  await pass(5_000);
  await asked[0].answer({ round: { ...round, phase: 'closed', reason: 'stopped' }, tally });
  assert.deepEqual([store.stage.value, store.round.value?.reason], ['closed', 'stopped']);
  await pass(5_000);
  await asked[1].answer({ round: { ...round, phase: 'settled', reason: 'stopped', secret: 'ab' }, tally: { ...tally, claimed_packets: 100, left_packets: 0 } });
  assert.deepEqual([store.round.value?.phase, store.round.value?.secret, store.roundTally.value?.claimed_packets], ['settled', 'ab', 100]);
  await pass(60_000);
  assert.equal(asked.length, 2);
});

test('nothing is asked on hold, without a connection, or of a draft', async () => {
  const held = page();
  held.store.receive({ type: 'round', round: { ...round, frozen: true, hold: 'host' } });
  const cut = page();
  cut.connection.state.value = 'waiting';
  const early = page();
  early.store.receive({ type: 'round', round: { ...round, id: 'x', phase: 'draft' } });
  await pass(60_000);
  for (const { asked, refresher } of [held, cut, early]) assert.deepEqual([asked.length, refresher.age.value], [0, 0]);
  held.store.receive({ type: 'round', round });
  cut.connection.state.value = 'open';
  await pass(5_000);
  assert.deepEqual([held.asked.length, cut.asked.length], [1, 1]);
});

test('an answer that a round message overtook is dropped', async () => {
  const { store, asked } = page();
  await pass(5_000);
  store.receive({ type: 'round', round: { ...round, frozen: true, hold: 'host' } });
  await asked[0].answer({ round, tally });
  assert.deepEqual([store.round.value?.frozen, store.round.value?.hold], [true, 'host']);
});

test('figures are said to be old from 15 s on, and no more once there are newer ones', async () => {
  const { asked, refresher } = page();
  for (let i = 0; i < 29; i++) { await pass(500); await asked.at(-1)?.fail(); }
  assert.equal(refresher.age.value, 0);
  await pass(500);
  assert.equal(refresher.age.value, 15);
  await pass(2_000);
  assert.equal(refresher.age.value, 17);
  await asked.at(-1)?.answer({ round, tally });
  assert.equal(refresher.age.value, 0);
});

test('after its end nothing is asked, and an answer on its way changes nothing', async () => {
  const { store, asked, refresher } = page();
  await pass(5_000);
  refresher.stop();
  await asked[0].answer({ round: { ...round, phase: 'settled' }, tally });
  await pass(60_000);
  assert.deepEqual([asked.length, store.round.value?.phase], [1, 'raining']);
});
