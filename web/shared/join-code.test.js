import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeInPath, parseJoinCode } from './join-code.js';

test('a typed code is brought into its form', () => {
  assert.equal(parseJoinCode(' wxy-z23 '), 'WXYZ23');
  assert.equal(parseJoinCode('wxy z23'), 'WXYZ23');
});

test('letters are folded, as keyboards of other scripts and messengers write them', () => {
  for (const typed of ['ＷＸＹＺ２３', 'ｗｘｙｚ２３', 'ＷＸＹ－Ｚ２３', '\u200bWXYZ23\ufeff', 'WXY\u00adZ23', 'WXY–Z23', 'WXY\u2011Z23', '\u3000WXY\u00a0Z23', '𝐖𝐗𝐘𝐙𝟐𝟑', '\u202aWXYZ23\u202c', '“WXYZ23”。', '【WXYZ23】', '(wxyz23).', '#WXYZ23!']) assert.equal(parseJoinCode(typed), 'WXYZ23', typed);
});

test('the code in an address is folded too, and never fails', () => {
  for (const [path, code] of Object.entries({ '/r/WXYZ23': 'WXYZ23', '/r/%EF%BC%B7XYZ23': 'WXYZ23', '/r/wxyz23%20': 'WXYZ23', '/screen/wxy-z23': 'WXYZ23', '/r/%E0%A4': '%E0%A4', '/r': '' })) {
    globalThis.location = /** @type {any} */ ({ pathname: path });
    assert.equal(codeInPath(), code, path);
  }
});

test('what cannot be a code is refused', () => {
  for (const typed of ['', 'WXYZ2', 'WXYZ234', 'WXYZ20', 'WXYZ21', 'WXYZ2O', 'WXYZ2I', 'WXYZ2L', '红包雨红包雨']) assert.equal(parseJoinCode(typed), '', typed);
});
