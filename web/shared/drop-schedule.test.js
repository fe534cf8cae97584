import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { computeSchedule, findWrongDrops } from './drop-schedule.js';

/** What the server lets fall: a test of its own holds this file against its code. */
const cases = JSON.parse(readFileSync(new URL('../../internal/game/testdata/fair.json', import.meta.url), 'utf8'));

test('every drop is what the server let fall', async () => {
  for (const round of cases) {
    const texts = (await computeSchedule(round)).map(({ drop, kind, at_ms: at, lane }) => `${drop} ${kind} ${at} ${lane}`);
    assert.deepEqual(texts.slice(0, 10), round.drops, round.name);
    assert.equal(createHash('sha256').update(texts.join(',')).digest('hex'), round.all_drops_sha256, round.name);
  }
});

test('the page gets its turns', async () => {
  let turns = 0;
  const drops = await computeSchedule(cases.find(({ name }) => name === 'live, as many drops as may be'), async () => void turns++);
  assert.deepEqual([drops.length, turns], [24_000, 12]);
});

test('a drop of another kind, moment or place, or that never was, is found', async () => {
  const schedule = await computeSchedule(cases[0]);
  assert.deepEqual(findWrongDrops(schedule.slice(3, 9), schedule), []);
  const [one] = schedule;
  for (const change of [{ kind: 'bomb' }, { at_ms: one.at_ms + 1 }, { lane: one.lane + 1 }, { drop: 0 }, { drop: schedule.length + 1 }]) {
    assert.equal(findWrongDrops([{ ...one, ...change }], schedule).length, 1, JSON.stringify(change));
  }
});
