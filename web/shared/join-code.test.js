import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJoinCode } from './join-code.js';

test('a typed code is brought into its form', () => {
  assert.equal(parseJoinCode(' wxy-z23 '), 'WXYZ23');
  assert.equal(parseJoinCode('wxy z23'), 'WXYZ23');
});

test('what cannot be a code is refused', () => {
  for (const typed of ['', 'WXYZ2', 'WXYZ234', 'WXYZ20', 'WXYZ21', 'WXYZ2O', 'WXYZ2I', 'WXYZ2L', '红包雨红包雨']) assert.equal(parseJoinCode(typed), '', typed);
});
