import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decimal, money, parseUnits } from './money.js';

test('yuan are read exactly, without floats', () => {
  const exact = { '0.29': 29, '1.1': 110, '8.88': 888, '19.99': 1999, '1': 100, '.5': 50, '5.': 500, '0.010': 1, '100000000': 10_000_000_000, '1,234.5': 123450, ' ¥8 ': 800, '4.35': 435, '1.005': null };
  for (const [typed, cents] of Object.entries(exact)) assert.equal(parseUnits(typed, 2), cents, typed);
});

test('what is no plain number is refused', () => {
  for (const typed of ['', '.', '-1', '1e3', '0x10', 'NaN', '1.2.3', '١٢', 'abc', '9'.repeat(16)]) assert.equal(parseUnits(typed, 2), null, typed);
  assert.equal(parseUnits('1.5', 0), null);
  assert.equal(parseUnits('1.0', 0), 1);
});

test('cents become decimal text and come back', () => {
  for (const cents of [0, 1, 9, 10, 99, 100, 101, 12345, 10_000_000_000]) assert.equal(parseUnits(decimal(cents), 2), cents);
  assert.equal(decimal(5), '0.05');
  assert.equal(decimal(-1234), '-12.34');
});

test('amounts are shown in the manner of the language, to the cent', () => {
  assert.equal(money(123456, 'zh-CN'), '¥1,234.56');
  assert.equal(money(10_000_000_001, 'zh-CN'), '¥100,000,000.01');
  assert.match(money(612, 'en'), /¥6\.12$/);
});
