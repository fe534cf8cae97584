import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { Store } from '../shared/store.js';
import { addWords, setLanguage } from '../shared/i18n.js';
import { setSound } from '../shared/sound-effects.js';
import { signal } from '../vendor/signals-core.js';
import { CalmGame } from './calm-game.js';
import { words as en } from './words.en.js';

const START = 1_800_000_000_000;
const round = {
  id: 'r', room: 'RAXN88', title: '', phase: 'raining', reason: '', frozen: false, rehearsal: false, total_cents: 1000, packets: 10, cap: 2, bomb_percent: 10,
  starts_at: START, ends_at: START + 30_000, countdown_ms: 0, duration_ms: 30_000, commitment: 'c', secret: '',
};
const drops = [{ drop: 1, kind: 'packet', at_ms: 0, lane: 1 }, { drop: 2, kind: 'bomb', at_ms: 0, lane: 2 }, { drop: 3, kind: 'packet', at_ms: 0, lane: 3 }, { drop: 4, kind: 'packet', at_ms: 0, lane: 4 }];
const tally = { type: 'tally', round: 'r', epoch: 1, serial: 1, at: START, online: 1, taps: 0, claimed_packets: 0, claimed_cents: 0, left_packets: 10, left_cents: 1000, top: [], winners: [] };

let shakes;
Object.defineProperty(globalThis, 'navigator', { value: { userActivation: { hasBeenActive: true }, vibrate: (pattern) => shakes.push(pattern) } });

let now;
let sent;
let live;
let game;

/** All that happens in so many ms. */
function pass(ms) {
  for (let i = 0; i < ms; i += 50) {
    now += 50;
    mock.timers.tick(50);
  }
}

const hear = (drop, outcome, cents = 0) => live.store.receive({ type: 'result', round: 'r', drop, outcome, cents });

beforeEach(() => {
  addWords({ en, zh: {} });
  setLanguage('en');
  setSound(true);
  shakes = [];
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  now = 0;
  mock.method(performance, 'now', () => now);
  sent = [];
  const clock = { now: () => START + now, stamp: () => now, hint() {}, pong() {} };
  live = { clock, store: new Store(clock), connection: { state: signal('open'), send: (message) => sent.push(message.drop) > 0 } };
  live.store.receive({ type: 'welcome', now: START, you: { role: 'player', player: 'p', nickname: 'Ann' }, room: { code: 'RAXN88', name: '' }, round, claims: [], drops, tally });
  game = new CalmGame(live, round);
  pass(200);
});

afterEach(() => {
  game.stop();
  live.store.stop();
  mock.timers.reset();
  mock.restoreAll();
});

test('a press is a tap, and its answer is said', () => {
  game.press(0);
  game.press(0); // while the answer is on its way
  assert.deepEqual(sent, [1]);
  assert.ok(game.isPending(0));
  hear(1, 'won', 123);
  assert.equal(game.said.value, 'You won ¥1.23');
  assert.equal(game.answerIn(0), '+¥1.23');
  pass(2000);
  assert.equal(game.answerIn(0), '', 'the answer goes after a moment');
  assert.equal(game.grid.cells[0], null, 'and so did the packet');
});

test('a missed packet is said and goes', () => {
  game.press(2);
  hear(3, 'missed');
  assert.notEqual(game.said.value, '');
  pass(200);
  assert.equal(game.grid.cells[2], null);
});

test('a bomb holds everything for two seconds', () => {
  game.press(1);
  hear(2, 'bomb');
  assert.ok(game.tapping.heldUntil.value > 0);
  game.press(0);
  pass(1900);
  game.press(0);
  assert.deepEqual(sent, [2], 'nothing is sent meanwhile');
  pass(200);
  assert.equal(game.tapping.heldUntil.value, 0);
  game.press(0);
  assert.deepEqual(sent, [2, 1]);
});

test('who has all they can win sends no more taps', () => {
  for (const drop of [1, 3]) {
    game.press(drop - 1);
    hear(drop, 'won', 10);
  }
  assert.equal(game.tapping.verdict.value, 'capped');
  game.press(3);
  assert.deepEqual(sent, [1, 3]);
});

test('the device shakes with what happens, unless that is switched off', () => {
  game.press(0);
  hear(1, 'won', 10);
  assert.equal(shakes.length, 2);
  setSound(false);
  game.press(2);
  hear(3, 'won', 10);
  assert.equal(shakes.length, 2);
});

test('an empty cell does nothing', () => {
  game.press(11);
  assert.deepEqual(sent, []);
});

test('taps whose answers were lost with the line are sent again when it is back', () => {
  game.press(0);
  live.connection.state.value = 'waiting';
  live.connection.state.value = 'open';
  assert.deepEqual(sent, [1, 1]);
});
