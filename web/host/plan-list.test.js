import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sortByUrgency, withCurrent } from './plan-list.js';

test('the active round comes first, then those to come, then the past', () => {
  const rounds = ['closed', 'draft', 'raining', 'settled', 'draft'].map((phase, id) => ({ id: String(id), phase }));
  assert.deepEqual(sortByUrgency(rounds).map(({ id }) => id), ['2', '1', '4', '0', '3']);
});

test('of the list and the socket whoever is further on is believed', () => {
  const listed = [{ id: 'a', phase: 'raining' }, { id: 'b', phase: 'draft' }];
  assert.equal(withCurrent(listed, { id: 'a', phase: 'closed' })[0].phase, 'closed');
  assert.equal(withCurrent(listed, { id: 'a', phase: 'countdown' })[0].phase, 'raining');
  assert.deepEqual(withCurrent(listed, null), listed);
});
