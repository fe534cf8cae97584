import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { signal } from '../vendor/signals-core.js';
import { fakeTime } from '../testing/fake-time.js';
import { mount } from '../testing/mount.js';
import { useServerData } from './coalesced-reader.js';

const LATENCY_MS = 450;
const STEP_MS = 10;

/** @type {ReturnType<typeof fakeTime>} */
let time;
/** @type {Set<() => void>} */
let watchers;

beforeEach(() => {
  time = fakeTime();
  watchers = new Set();
  globalThis.document = { visibilityState: 'visible', addEventListener: (_, watcher) => watchers.add(watcher), removeEventListener: (_, watcher) => watchers.delete(watcher) };
});
afterEach(() => {
  time.restore();
  delete globalThis.document;
});

/** Lets so much time go by, and whatever follows from it happen. */
async function pass(ms, each = () => {}) {
  for (const until = time.now() + ms; time.now() < until;) {
    time.pass(STEP_MS);
    await new Promise(setImmediate);
    each();
  }
}

/** A room with a number that changes, behind a slow line, and a page that shows it. */
function setUp() {
  const listeners = new Set();
  const server = { joined: 0, asked: 0, underWay: 0, most: 0, whole: [], failing: false };
  const store = { you: signal(null), listen: (listener) => { listeners.add(listener); return () => listeners.delete(listener); } };
  const notify = (code) => listeners.forEach((listener) => listener({ type: 'notice', code }));
  const read = ({ whole }) => {
    server.asked++;
    server.whole.push(whole);
    server.most = Math.max(server.most, ++server.underWay);
    return new Promise((resolve, reject) => setTimeout(() => {
      const { joined } = server; // as the server saw it half way
      setTimeout(() => {
        server.underWay--;
        if (server.failing) reject(new Error('down'));
        else resolve(joined);
      }, LATENCY_MS / 2);
    }, LATENCY_MS / 2));
  };
  const page = mount(() => useServerData(read, { store, codes: ['players_edited'], newCodes: ['players_changed'] }));
  return { server, store, notify, page };
}

test('a list behind a slow line is shown after its first answer and stays within two round trips while five people join a second', async () => {
  const { server, notify, page } = setUp();
  const seen = []; // how many had joined, every 10 ms
  const began = time.now();
  let late = 0;
  let shownAfter = NaN;
  await pass(15_000, () => {
    if (seen.length % 20 === 0) {
      server.joined++;
      notify('players_changed');
    }
    seen.push(server.joined);
    const { value } = page.now();
    if (value === null) return;
    if (Number.isNaN(shownAfter)) shownAfter = time.now() - began;
    const known = seen[seen.length - 1 - 2 * LATENCY_MS / STEP_MS] ?? 0;
    if (value < known) late++;
  });
  assert.ok(shownAfter <= LATENCY_MS + 100, `shown after ${shownAfter} ms`);
  assert.equal(late, 0, 'moments at which it was older than two round trips');
  assert.equal(server.most, 1, 'requests at a time');
  assert.ok(server.asked <= 15_000 / LATENCY_MS + 1, `${server.asked} requests`);
  assert.ok(server.whole.slice(1).every((whole) => !whole), 'a join does not make it read everything again');
  await pass(2 * LATENCY_MS);
  assert.equal(page.now().value, server.joined, 'and in the end it is right');
  page.end();
});

test('an edit, a new welcome and waking up make it read everything again, and so does a minute without any', async () => {
  const { server, store, notify, page } = setUp();
  await pass(1000);
  const again = async (trigger) => {
    const before = server.asked;
    trigger();
    await pass(1000);
    assert.deepEqual(server.whole.slice(before), [true], String(trigger));
  };
  await again(() => notify('players_edited'));
  await again(() => { store.you.value = { role: 'host' }; });
  await again(() => watchers.forEach((watcher) => watcher()));
  document.visibilityState = 'hidden';
  const before = server.asked;
  watchers.forEach((watcher) => watcher());
  await pass(200_000);
  assert.equal(server.asked, before, 'nobody looks');
  document.visibilityState = 'visible';
  await again(() => watchers.forEach((watcher) => watcher()));
  await pass(59_000);
  assert.equal(server.asked, before + 1);
  await again(() => {});
  page.end();
  await pass(100); // the page is cleaned up a moment later
  await pass(200_000, () => notify('players_changed'));
  assert.equal(server.asked, before + 2, 'a page that was left asks no more');
});

test('what was seen stays, marked by an error, while the server does not answer, and comes by itself when it does again', async () => {
  const { server, notify, page } = setUp();
  server.joined = 3;
  await pass(600);
  assert.deepEqual([page.now().value, page.now().error], [3, '']);
  server.failing = true;
  server.joined = 4;
  notify('players_changed');
  await pass(600);
  assert.equal(page.now().value, 3);
  assert.ok(page.now().error, 'it says so');
  const before = server.asked;
  await pass(60_000, () => notify('players_changed'));
  assert.ok(server.asked - before < 15, `${server.asked - before} requests in a minute to a server that is down`);
  server.failing = false;
  await pass(16_000);
  assert.deepEqual([page.now().value, page.now().error], [4, '']);
  page.end();
});
