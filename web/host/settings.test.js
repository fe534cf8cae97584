import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { emptyForm, formOf, histogram, readForm } from './settings.js';

const round = JSON.parse(readFileSync(new URL('../../internal/wire/fixtures/server/round.json', import.meta.url), 'utf8')).round;

test('yuan become cents and seconds milliseconds, exactly', () => {
  const { settings, wrong } = readForm({ ...emptyForm, total_cents: '0.29', duration_ms: '12.5', min_cents: '0.01', max_cents: '' });
  assert.deepEqual(wrong, []);
  assert.equal(settings.total_cents, 29);
  assert.equal(settings.duration_ms, 12_500);
  assert.equal(settings.max_cents, 0);
  assert.equal('deal' in settings, false, 'a live round has no deal');
  assert.equal('tiers' in settings, false);
});

test('what is no number is named, by the field of the API', () => {
  const { wrong } = readForm({ ...emptyForm, total_cents: 'a lot', packets: '1.5', cap: '' });
  assert.deepEqual(wrong, ['total_cents', 'packets', 'cap']);
});

test('tiers say the total and the packets', () => {
  const form = { ...emptyForm, split: 'dealt', deal: 'tiers', total_cents: '', packets: '', tiers: [{ packets: '10', cents: '88' }, { packets: '100', cents: '8.8' }] };
  const { settings, wrong } = readForm(form);
  assert.deepEqual(wrong, []);
  assert.deepEqual(settings.tiers, [{ packets: 10, cents: 8800 }, { packets: 100, cents: 880 }]);
  assert.equal(settings.packets, 110);
  assert.equal(settings.total_cents, 176_000);
  assert.deepEqual(readForm({ ...form, tiers: [{ packets: 'x', cents: '1' }] }).wrong, ['tiers']);
});

test('a round copied into the form comes out with the same settings', () => {
  const { settings, wrong } = readForm(formOf(round));
  assert.deepEqual(wrong, []);
  for (const [name, value] of Object.entries(settings)) assert.deepEqual(value, round[name], name);
  const dealt = { ...round, split: 'dealt', deal: 'tiers', tiers: [{ packets: 100, cents: 888 }], max_cents: 1000, duration_ms: 30_500, countdown_ms: 0 };
  const again = readForm(formOf(dealt)).settings;
  for (const [name, value] of Object.entries(again)) assert.deepEqual(value, dealt[name], name);
});

test('a histogram counts every amount once', () => {
  const amounts = [1, 1, 2, 3, 50, 99, 100, 100];
  const bars = histogram(amounts, 24);
  assert.equal(bars.length, 24);
  assert.equal(bars.reduce((a, b) => a + b), amounts.length);
  assert.equal(bars.at(-1), 3);
  assert.deepEqual(histogram([7, 7, 7], 24), [3]);
  assert.deepEqual(histogram([], 24), []);
});
