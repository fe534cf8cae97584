import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { beforeEach, test } from 'node:test';
import { check } from './check-round.js';
import { computeSchedule } from '../shared/drop-schedule.js';
import { noteCommitment } from './stored-commitments.js';

const store = new Map();
globalThis.localStorage = { getItem: (key) => store.get(key) ?? null, setItem: (key, value) => void store.set(key, String(value)) };
beforeEach(() => store.clear());

const [golden] = JSON.parse(readFileSync(new URL('../../internal/game/testdata/fair.json', import.meta.url), 'utf8'));
const start = 1_800_000_000_000;
const round = { ...golden, phase: 'settled', algorithm: 2, commitment: golden.commitments[2], starts_at: start, ends_at: start + golden.duration_ms };
const quiet = () => {};
const schedule = await computeSchedule(round);
const packets = schedule.filter(({ kind }) => kind === 'packet');
const claim = (number, cents) => ({ round: round.id, number, player: 'p', nickname: '', drop: packets[number].drop, cents });
const note = () => noteCommitment({ ...round, phase: 'raining', secret: '' });

test('an honest round is right', async () => {
  note();
  const found = await check(round, [claim(1, round.amounts[0]), claim(3, round.amounts[2])], schedule.slice(0, 40), quiet);
  assert.deepEqual({ ...found, amounts: 0, schedule: 0 },
    { amounts: 0, schedule: 0, commitment: round.commitment, committed: true, noted: 'same', exact: true, wrong: [], fell: true, right: true });
  assert.deepEqual(found.amounts, round.amounts);
  assert.deepEqual(found.schedule, schedule);
});

test('a round of before is checked by its own algorithm', async () => {
  const before = { ...round, algorithm: 1, commitment: golden.commitments[1] };
  assert.ok((await check(before, [], [], quiet)).right);
  assert.equal((await check({ ...before, commitment: golden.commitments[2] }, [], [], quiet)).committed, false);
});

test('who came too late to note the commitment can still check the rest', async () => {
  const found = await check(round, [], [], quiet);
  assert.equal(found.noted, 'none');
  assert.ok(found.right);
});

test('a round that was given up before it began is right', async () => {
  assert.ok((await check({ ...round, starts_at: 0, ends_at: 0 }, [], [], quiet)).right);
});

test('a secret that was chosen afterwards is found out', async () => {
  note();
  const other = { ...round, secret: 'f'.repeat(64) };
  assert.equal((await check(other, [], [], quiet)).right, false, 'it does not fit the commitment');
  const { commitment } = await check(other, [], [], quiet);
  const forged = await check({ ...other, commitment }, [], [], quiet);
  assert.deepEqual([forged.committed, forged.noted, forged.right], [true, 'other', false], 'nor does another commitment fit the one noted');
});

test('no commitment is none to fit', async () => {
  const found = await check({ ...round, cap: 0.5, commitment: '' }, [], [], quiet);
  assert.deepEqual([found.committed, found.right], [false, false]);
});

test('more bombs than were committed to are found out', async () => {
  const found = await check({ ...round, bomb_percent: 50 }, [], [], quiet);
  assert.deepEqual([found.committed, found.right], [false, false]);
});

test('an amount that was not drawn is found out', async () => {
  const found = await check(round, [claim(2, round.amounts[1] + 1)], [], quiet);
  assert.deepEqual([found.wrong.length, found.right], [1, false]);
});

test('a drop that was not drawn, and a round that ended at another time, are found out', async () => {
  const bomb = { ...packets[0], kind: 'bomb' };
  for (const found of [await check(round, [], [bomb], quiet), await check({ ...round, ends_at: round.ends_at - 1 }, [], [], quiet)]) {
    assert.deepEqual([found.fell, found.right], [false, false]);
  }
});
