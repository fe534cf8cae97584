import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decimal, money, parseUnits } from './money.js';

test('yuan are read exactly, without floats', () => {
  const exact = { '0.29': 29, '1.1': 110, '8.88': 888, '19.99': 1999, '1': 100, '.5': 50, '5.': 500, '0.010': 1, '100000000': 10_000_000_000, '1,234.5': 123450, ' ¥8 ': 800, '4.35': 435, '1.005': null };
  for (const [typed, cents] of Object.entries(exact)) assert.equal(parseUnits(typed, 2), cents, typed);
});

test('what is no plain number is refused', () => {
  for (const typed of ['', '.', '-1', '1e3', '0x10', 'NaN', '1.2.3', 'abc', '½', '5²', '①', '$5', '5 €', '−5', '9'.repeat(16)]) assert.equal(parseUnits(typed, 2), null, typed);
  assert.equal(parseUnits('1.5', 0), null);
  assert.equal(parseUnits('1.0', 0), 1);
});

test('a mark is read as what it is, or refused, and never left out', () => {
  const yuan = {
    '88,88': 8888, '88.88': 8888, '0,5': 50, ',5': 50, '5,': 500, '1234,5': 123450, '0,50': 50, '1,50': 150, '1,2': 120, '88\u300288': 8888, '8,8元': 880,
    '1,234.56': 123456, '1.234,56': 123456, '1 234,56': 123456, "1'234.56": 123456, '1,234,567': 123456700, '1.234.567,8': 123456780, '1,234.500': 123450,
    '1 234': 123400, '1\u00a0234': 123400, '1\u2009234': 123400, '1\u202f234,5': 123450, '1\u3000234': 123400, '1’234': 123400, '١٬٢٣٤': 123400,
    '８８，８８': 8888, '￥８８．８８': 8888, '٨٨٫٨٨': 8888, '۸۸٫۸۸': 8888, '८८.८८': 8888, '১২,৫': 1250, '\u200f88,88\u00a0¥': 8888, 'CN¥8.8': 880, 'CNY 8': 800, '8 rmb': 800,
  };
  for (const [typed, cents] of Object.entries(yuan)) assert.equal(parseUnits(typed, 2), cents, typed);
  for (const typed of ['1,234', '1.234', '12,345', '1.000', '１，２３４', '8 8', '88 88', '1  234', '1 23', '1,23,456', '1,2345.6', '12,34.56', '1,234,56', '1.234.56',
    '1,234 567', '1 234 ,5', '0,123,456', '0 500', "1'23", '1,,5', '1.,5', '88,888', '5 ,5', '1٫2٫3', '1٫234٫567', '1,234.567', '¥', '¥¥5', '5元5']) assert.equal(parseUnits(typed, 2), null, typed);
});

test('seconds keep the point that pages write; whole numbers may be grouped where that is clear', () => {
  assert.equal(parseUnits('12.345', 3), 12_345);
  assert.equal(parseUnits('12,5', 3), 12_500);
  assert.equal(parseUnits('12,345', 3), null);
  assert.equal(parseUnits('1 000', 0), 1000);
  assert.equal(parseUnits('1,000,000', 0), 1_000_000);
  for (const typed of ['1,000', '1.000', '1,5']) assert.equal(parseUnits(typed, 0), null, typed);
});

test('amounts as the most used locales write them are read, or refused where grouping is not by threes', () => {
  const locales = ['zh-CN', 'en-US', 'es-ES', 'hi-IN', 'ar-EG', 'bn-BD', 'pt-BR', 'ru-RU', 'ja-JP', 'de-DE', 'fr-FR', 'ur-PK', 'id-ID', 'tr-TR', 'vi-VN', 'ko-KR', 'it-IT', 'fa-IR', 'pl-PL', 'th-TH', 'de-CH', 'mr-IN', 'sv-SE', 'en-IN', 'es-MX'];
  for (const locale of locales) {
    for (const currencyDisplay of ['symbol', 'narrowSymbol', 'code', 'none']) {
      const style = currencyDisplay === 'none' ? { minimumFractionDigits: 2 } : { style: 'currency', currency: 'CNY', currencyDisplay };
      const format = new Intl.NumberFormat(locale, style);
      for (const cents of [1, 50, 99, 8888, 12_345, 123_450, 123_456, 1_234_567, 8_888_888]) {
        const typed = format.format(cents / 100);
        assert.equal(parseUnits(typed, 2), cents, `${locale}: ${typed}`);
      }
      const large = format.format(1_234_567.89);
      const read = parseUnits(large, 2);
      assert.ok(read === 123_456_789 || (read === null && /(IN|BD)$/.test(locale)), `${locale}: ${large}: ${read}`);
    }
  }
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
