import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { amountsOf, commitmentOf, committedText, liveAmount, wrongClaims } from './fair.js';

/** What the server draws: a test of its own holds this file against its code. */
const cases = JSON.parse(readFileSync(new URL('../../internal/game/testdata/fair.json', import.meta.url), 'utf8'));

test('amounts are what the server drew, at every position', async () => {
  for (const round of cases) {
    const amounts = await amountsOf(round);
    assert.deepEqual(amounts.slice(0, 30), round.amounts, round.name);
    assert.equal(createHash('sha256').update(amounts.join(',')).digest('hex'), round.all_sha256, round.name);
    assert.equal(amounts.reduce((sum, cents) => sum + cents, 0), round.total_cents, round.name);
  }
});

test('commitments are what the server committed to', () => {
  for (const round of cases) assert.equal(commitmentOf(round), round.commitment, round.name);
});

test('another secret, or another setting that decides amounts, has another commitment', () => {
  const [round] = cases;
  const changes = [{ secret: round.secret.replace(/./, (digit) => (digit === '0' ? '1' : '0')) }, { total_cents: round.total_cents + 1 }, { packets: 21 }, { min_cents: 2 },
    { max_cents: 900 }, { split: 'dealt', deal: 'equal' }, { pace: 'burst' }, { cap: 2 }];
  for (const change of changes) assert.notEqual(commitmentOf({ ...round, ...change }), round.commitment, JSON.stringify(change));
  assert.equal(commitmentOf({ ...round, title: 'another', bomb_percent: 50 }), round.commitment);
});

test('the committed text is as documented', () => {
  const tiers = cases.find(({ name }) => name === 'dealt, tiers');
  assert.equal(committedText(tiers), `redrain:1:${tiers.secret}:24640:37:1:0:dealt/tiers/2x8800,5x880,30x88:burst:3`);
});

test('the last packet takes the rest', () => assert.equal(liveAmount(777, 1, 1, 0, 2 ** 52 - 1), 777));

test('the page gets its turns, and hears how far it is', async () => {
  const round = cases.find(({ name }) => name === 'dealt, many packets');
  const parts = [];
  await amountsOf(round, async (part) => void parts.push(part));
  assert.ok(parts.length >= 4, `${parts.length} turns`);
  assert.ok(parts.every((part, i) => part > 0 && part < 1 && (i === 0 || part > parts[i - 1])), String(parts));
});

test('a claim of another amount, or of a packet that never was, is found', () => {
  const claim = (number, cents) => ({ round: 'r', number, player: 'p', nickname: '', drop: number, cents });
  const amounts = [5, 7, 9];
  assert.deepEqual(wrongClaims([claim(1, 5), claim(3, 9)], amounts), []);
  assert.deepEqual(wrongClaims([claim(2, 8), claim(4, 1)], amounts).map(({ number }) => number), [2, 4]);
});
