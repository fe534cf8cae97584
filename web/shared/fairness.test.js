import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { computeAmounts, computeCommitment, committedText, coversDrops, isKnown, liveAmount, findWrongClaims } from './fairness.js';

/** What the server draws: a test of its own holds this file against its code. */
const cases = JSON.parse(readFileSync(new URL('../../internal/game/testdata/fair.json', import.meta.url), 'utf8'));
const by = (algorithm, round) => ({ ...round, algorithm, commitment: round.commitments[algorithm] });

test('amounts are what the server drew, at every position', async () => {
  for (const round of cases) {
    const amounts = await computeAmounts(round);
    assert.deepEqual(amounts.slice(0, 30), round.amounts, round.name);
    assert.equal(createHash('sha256').update(amounts.join(',')).digest('hex'), round.all_sha256, round.name);
    assert.equal(amounts.reduce((sum, cents) => sum + cents, 0), round.total_cents, round.name);
  }
});

test('commitments of both algorithms are what the server committed to', () => {
  for (const one of cases) {
    assert.deepEqual(Object.keys(one.commitments), ['1', '2']);
    for (const algorithm of [1, 2]) assert.equal(computeCommitment(by(algorithm, one)), one.commitments[algorithm], `${one.name} ${algorithm}`);
  }
});

const [live] = cases;
const DECIDES_AMOUNTS = [{ secret: live.secret.replace(/./, (digit) => (digit === '0' ? '1' : '0')) }, { total_cents: live.total_cents + 1 },
  { packets: 21 }, { min_cents: 2 }, { max_cents: 900 }, { split: 'dealt', deal: 'equal' }, { pace: 'burst' }, { cap: 2 }];
const DECIDES_MORE = [{ countdown_ms: 0 }, { duration_ms: 30_001 }, { drops_per_second: 9 }, { bomb_percent: 50 },
  { close_when_sold_out: false }, { rehearsal: true }, { id: live.id.replace('1', '2') }];

test('whatever decides something changes the commitment', () => {
  for (const change of [...DECIDES_AMOUNTS, ...DECIDES_MORE]) {
    assert.notEqual(computeCommitment({ ...by(2, live), ...change }), live.commitments[2], JSON.stringify(change));
  }
  assert.equal(computeCommitment({ ...by(2, live), title: 'another' }), live.commitments[2]);
});

test('a commitment of before covers the amounts alone', () => {
  assert.deepEqual([1, 2].map((algorithm) => coversDrops(by(algorithm, live))), [false, true]);
  for (const change of DECIDES_AMOUNTS) assert.notEqual(computeCommitment({ ...by(1, live), ...change }), live.commitments[1], JSON.stringify(change));
  for (const change of DECIDES_MORE) assert.equal(computeCommitment({ ...by(1, live), ...change }), live.commitments[1], JSON.stringify(change));
});

test('no text can be read in two ways: what is no secret, number or choice is committed to by nothing', () => {
  const round = by(2, live);
  const shifted = { secret: `${live.secret}:1`, total_cents: 2 };
  for (const odd of [shifted, { secret: live.secret.slice(1) }, { pace: 'even:1' }, { cap: 1.5 }, { duration_ms: -1 }, { split: 'dealt', deal: 'a:b' },
    { rehearsal: '' }, { id: 'r' }, { split: 'dealt', deal: 'tiers', tiers: [{ packets: 20, cents: '5:1' }] }]) {
    assert.equal(computeCommitment({ ...round, ...odd }), '', JSON.stringify(odd));
  }
});

test('an algorithm of a newer server is not known here', () => {
  assert.deepEqual([0, 1, 2, 3, undefined].map((algorithm) => isKnown({ ...live, algorithm })), [false, true, true, false, false]);
});

test('the committed text is as documented', () => {
  const tiers = cases.find(({ name }) => name === 'dealt, tiers');
  assert.equal(committedText(by(1, tiers)), `redrain:1:${tiers.secret}:24640:37:1:0:dealt/tiers/2x8800,5x880,30x88:burst:3`);
  assert.equal(committedText(by(2, tiers)),
    `redrain:2:${tiers.secret}:24640:37:1:0:dealt/tiers/2x8800,5x880,30x88:burst:3:10000:30000:8:10:true:true:${tiers.id}`);
});

test('the last packet takes the rest', () => assert.equal(liveAmount(777, 1, 1, 0, 2 ** 52 - 1), 777));

test('the page gets its turns, and hears how far it is', async () => {
  const round = cases.find(({ name }) => name === 'dealt, many packets');
  const parts = [];
  await computeAmounts(round, async (part) => void parts.push(part));
  assert.ok(parts.length >= 4, `${parts.length} turns`);
  assert.ok(parts.every((part, i) => part > 0 && part < 1 && (i === 0 || part > parts[i - 1])), String(parts));
});

test('a claim of another amount, of a packet that never was, or won with a bomb is found', () => {
  const claim = (number, cents, drop = 1) => ({ round: 'r', number, player: 'p', nickname: '', drop, cents });
  const amounts = [5, 7, 9];
  const schedule = [{ drop: 1, kind: 'packet', at_ms: 0, lane: 0 }, { drop: 2, kind: 'bomb', at_ms: 1, lane: 1 }];
  assert.deepEqual(findWrongClaims([claim(1, 5), claim(3, 9)], amounts, schedule), []);
  assert.deepEqual(findWrongClaims([claim(2, 8), claim(4, 1)], amounts, schedule).map(({ number }) => number), [2, 4]);
  assert.deepEqual(findWrongClaims([claim(1, 5, 2), claim(2, 7, 3)], amounts, schedule).map(({ number }) => number), [1, 2]);
});
