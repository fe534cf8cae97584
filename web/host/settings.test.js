import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { presetForm, presetNames } from './preset-bar.js';
import { emptyForm, formOf, histogram, plannedDrafts, lasting, localTime, moved, readForm } from './settings.js';

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

test('how long packets last follows from who catches and what is released', () => {
  const round = { packets: 100, cap: 1, pace: 'burst', duration_ms: 30_000, drops_per_second: 8, bomb_percent: 0 };
  assert.deepEqual(lasting(round, 100), { taken: 100, seconds: 0.5 });
  assert.equal(lasting({ ...round, pace: 'even' }, 100).seconds.toFixed(2), '26.73', 'an even round lasts until its last release');
  assert.equal(lasting(round, 40).taken, 40, 'everybody has what they can have, the rest is left');
  assert.deepEqual(lasting({ ...round, cap: 100 }, 1), { taken: 60, seconds: 30 }, 'one person cannot catch them all');
  assert.deepEqual(lasting(round, 0), { taken: 0, seconds: 0 });
});

test('drafts are listed as planned and can be moved', () => {
  const rounds = [{ id: 'a', phase: 'draft', place: 3 }, { id: 'b', phase: 'closed', place: 1 }, { id: 'c', phase: 'draft', place: 2 }];
  assert.deepEqual(plannedDrafts(rounds).map(({ id }) => id), ['c', 'a']);
  assert.deepEqual(moved(['a', 'b', 'c'], 'c', -1), ['a', 'c', 'b']);
  assert.deepEqual(moved(['a', 'b', 'c'], 'a', 1), ['b', 'a', 'c']);
  assert.equal(moved(['a', 'b'], 'a', -1), null);
  assert.equal(moved(['a', 'b'], 'b', 1), null);
  assert.equal(moved(['a', 'b'], 'x', 1), null);
});

test('presets are rounds that the form takes', () => {
  for (const name of presetNames) assert.deepEqual(readForm(presetForm(name, 'x')).wrong, [], name);
});

test('local times come back as the same moment', () => {
  const moment = 1_800_000_012_000;
  assert.equal(new Date(localTime(moment)).getTime(), moment);
});
