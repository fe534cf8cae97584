import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { beforeEach, test } from 'node:test';
import { check } from './check-work.js';
import { noteCommitment } from './noted-commitments.js';

const store = new Map();
globalThis.localStorage = { getItem: (key) => store.get(key) ?? null, setItem: (key, value) => void store.set(key, String(value)) };
beforeEach(() => store.clear());

const [golden] = JSON.parse(readFileSync(new URL('../../internal/game/testdata/fair.json', import.meta.url), 'utf8'));
const round = { ...golden, id: 'r' };
const claim = (number, cents) => ({ round: 'r', number, player: 'p', nickname: '', drop: number, cents });
const quiet = () => {};

test('an honest round is right', async () => {
  noteCommitment({ id: 'r', commitment: round.commitment, secret: '' });
  const found = await check(round, [claim(1, round.amounts[0]), claim(3, round.amounts[2])], quiet);
  assert.deepEqual({ ...found, amounts: 0, commitment: 0 }, { amounts: 0, commitment: 0, committed: true, noted: 'same', exact: true, wrong: [], right: true });
  assert.deepEqual(found.amounts, round.amounts);
});

test('who came too late to note the commitment can still check the rest', async () => {
  const found = await check(round, [], quiet);
  assert.equal(found.noted, 'none');
  assert.ok(found.right);
});

test('a secret that was chosen afterwards is found out', async () => {
  noteCommitment({ id: 'r', commitment: round.commitment, secret: '' });
  const other = { ...round, secret: 'f'.repeat(64) };
  assert.equal((await check(other, [], quiet)).right, false, 'it does not fit the commitment');
  const { commitment } = await check(other, [], quiet);
  const forged = await check({ ...other, commitment }, [], quiet);
  assert.deepEqual([forged.committed, forged.noted, forged.right], [true, 'other', false], 'nor does another commitment fit the one noted');
});

test('an amount that was not drawn is found out', async () => {
  const found = await check(round, [claim(2, round.amounts[1] + 1)], quiet);
  assert.deepEqual([found.wrong.length, found.right], [1, false]);
});
