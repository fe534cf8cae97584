import assert from 'node:assert/strict';
import { test } from 'node:test';
import { interpolate } from './rolling-money.js';

test('a counter never goes beyond its goal, never back, and ends exactly', () => {
  for (const [from, to] of [[0, 88800], [500, 12], [7, 7], [0, 1e10]]) {
    let before = from;
    for (let part = 0; part <= 1.2; part += 0.05) {
      const now = interpolate(from, to, part);
      assert.ok(Number.isInteger(now) && (to >= from ? now >= before && now <= to : now <= before && now >= to), `${from} to ${to}: ${now}`);
      before = now;
    }
    assert.equal(interpolate(from, to, 1), to);
    assert.equal(interpolate(from, to, -0.1), from);
  }
});
