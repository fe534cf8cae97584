import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkAddress, roundToCheck } from './check-address.js';

test('an address leads back to its round, and nothing else does', () => {
  const id = '11111111-2222-4333-8444-555555555555';
  assert.equal(roundToCheck(checkAddress(id)), id);
  for (const hash of ['', '#', '#check/', `#check/${id}/x`, '#check/../../api', `#other/${id}`]) assert.equal(roundToCheck(hash), '', hash);
});
