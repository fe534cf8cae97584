import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matches, sortedBy } from './claims-table.js';

const claims = [
  { number: 1, nickname: 'Bob', cents: 5 }, { number: 2, nickname: '小明', cents: 900 }, { number: 3, nickname: 'ann', cents: 5 },
];
const numbers = (...how) => sortedBy(claims, ...how).map(({ number }) => number);

test('claims are sorted by each column, both ways, and equal ones stay in order', () => {
  assert.deepEqual(numbers('', 'number', false), [1, 2, 3]);
  assert.deepEqual(numbers('', 'cents', true), [2, 1, 3]);
  assert.deepEqual(numbers('', 'cents', false), [1, 3, 2]);
  assert.equal(numbers('an', 'nickname', false)[0], 3);
});

test('names are found whatever the case and width of letters', () => {
  assert.ok(matches('Bob', 'bO'));
  assert.ok(matches('ＢＯＢ', 'bob'));
  assert.ok(matches('小明', '  明 '));
  assert.ok(!matches('小明', '红'));
  for (const typed of ['2', ' ２ ']) assert.deepEqual(numbers(typed, 'number', false), [2], 'a number finds its claim');
});
