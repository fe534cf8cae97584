import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { noteCommitment, notedCommitment } from './stored-commitments.js';

const store = new Map();
globalThis.localStorage = { getItem: (key) => store.get(key) ?? null, setItem: (key, value) => void store.set(key, String(value)) };
beforeEach(() => store.clear());

test('the first commitment stays, whatever comes later', () => {
  noteCommitment({ id: 'a', phase: 'countdown', commitment: 'c1' });
  noteCommitment({ id: 'a', phase: 'raining', commitment: 'c2' });
  assert.equal(notedCommitment('a'), 'c1');
});

test('a commitment that came only after the round is not stored', () => {
  for (const phase of ['closed', 'settled']) noteCommitment({ id: 'a', phase, commitment: 'c1' });
  noteCommitment({ id: 'b', phase: 'draft', commitment: '' });
  assert.equal(notedCommitment('a'), '');
  assert.equal(notedCommitment('b'), '');
});

test('only the latest are kept, and invalid stored data counts as none', () => {
  for (let i = 0; i < 40; i++) noteCommitment({ id: `r${i}`, phase: 'raining', commitment: `c${i}` });
  assert.equal(notedCommitment('r0'), '');
  assert.equal(notedCommitment('r39'), 'c39');
  for (const spoilt of ['{', '7', '{}']) {
    store.set('redrain.commitments', spoilt);
    assert.equal(notedCommitment('r39'), '');
  }
});
