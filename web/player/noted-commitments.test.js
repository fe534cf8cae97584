import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { noteCommitment, notedCommitment } from './noted-commitments.js';

const store = new Map();
globalThis.localStorage = { getItem: (key) => store.get(key) ?? null, setItem: (key, value) => void store.set(key, String(value)) };
beforeEach(() => store.clear());

test('the first commitment stays, whatever comes later', () => {
  noteCommitment({ id: 'a', commitment: 'c1', secret: '' });
  noteCommitment({ id: 'a', commitment: 'c2', secret: '' });
  assert.equal(notedCommitment('a'), 'c1');
});

test('what comes with its secret was not promised before', () => {
  noteCommitment({ id: 'a', commitment: 'c1', secret: '5ec2e7' });
  noteCommitment({ id: 'b', commitment: '', secret: '' });
  assert.equal(notedCommitment('a'), '');
  assert.equal(notedCommitment('b'), '');
});

test('only the latest are kept, and a spoilt memory is none', () => {
  for (let i = 0; i < 40; i++) noteCommitment({ id: `r${i}`, commitment: `c${i}`, secret: '' });
  assert.equal(notedCommitment('r0'), '');
  assert.equal(notedCommitment('r39'), 'c39');
  for (const spoilt of ['{', '7', '{}']) {
    store.set('redrain.commitments', spoilt);
    assert.equal(notedCommitment('r39'), '');
  }
});
