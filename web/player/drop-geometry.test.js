import assert from 'node:assert/strict';
import { test } from 'node:test';
import { covers, FALL_MS, LANES, pick, dropPlace, dropPlaces } from './drop-geometry.js';

const phone = { width: 390, height: 844 };
const packet = { drop: 17, kind: 'packet', at_ms: 2000, lane: 512 };
const bomb = { ...packet, drop: 18, kind: 'bomb' };
const upright = (drop) => ({ ...dropPlace(drop, 3500, phone), angle: 0 });

test('a drop falls from above the top to below the bottom in its time', () => {
  assert.equal(dropPlace(packet, 1999, phone), null);
  const first = dropPlace(packet, 2000, phone);
  const last = dropPlace(packet, 2000 + FALL_MS, phone);
  assert.ok(first.y + first.height / 2 <= 0.001, 'not seen yet');
  assert.ok(last.y - last.height / 2 >= phone.height - 0.001, 'seen no more');
  assert.equal(dropPlace(packet, 2001 + FALL_MS, phone), null);
  assert.equal(dropPlace(packet, NaN, phone), null, 'before the clock is known nothing falls');
});

test('a drop only ever goes down', () => {
  let before = -Infinity;
  for (let elapsed = 2000; elapsed <= 2000 + FALL_MS; elapsed += 16) {
    const { y } = dropPlace(packet, elapsed, phone);
    assert.ok(y > before);
    before = y;
  }
});

test('lanes go from edge to edge and nothing is cut off, on any screen', () => {
  for (const scene of [phone, { width: 320, height: 568 }, { width: 1920, height: 1080 }]) {
    for (const lane of [0, 1, 500, LANES - 1]) {
      for (let drop = 1; drop < 40; drop++) {
        for (let elapsed = 0; elapsed <= FALL_MS; elapsed += 100) {
          const { x, width } = dropPlace({ drop, kind: 'packet', at_ms: 0, lane }, elapsed, scene);
          assert.ok(x - width / 2 >= 0 && x + width / 2 <= scene.width, `lane ${lane} of ${scene.width}`);
        }
      }
    }
  }
  const left = dropPlace({ ...packet, lane: 0 }, 2500, phone);
  const right = dropPlace({ ...packet, lane: LANES - 1 }, 2500, phone);
  assert.ok(left.x < 0.2 * phone.width && right.x > 0.8 * phone.width);
});

test('a drop is at the same place on every phone of the same size', () => {
  assert.deepEqual(dropPlace(packet, 3000, phone), dropPlace({ ...packet }, 3000, { ...phone }));
});

test('a touch on a packet, and a finger beside it, hits', () => {
  const place = upright(packet);
  assert.equal(pick([place], place.x, place.y), place);
  assert.equal(pick([place], place.x + place.width / 2 + 15, place.y), place, 'a finger is wide');
  assert.equal(pick([place], place.x + place.width / 2 + 30, place.y), null);
  assert.equal(pick([place], place.x, place.y - place.height / 2 - 30), null);
});

test('a turned packet is hit where it is drawn', () => {
  const place = { ...upright(packet), angle: Math.PI / 2 };
  assert.ok(covers(place, place.x + place.height / 2 - 1, place.y));
  assert.ok(!covers(place, place.x, place.y + place.height / 2 - 1));
});

test('a bomb is only hit when touched itself', () => {
  const place = upright(bomb);
  assert.equal(pick([place], place.x, place.y), place);
  assert.equal(pick([place], place.x + place.width / 2 + 2, place.y), null);
});

test('of drops over one another the topmost is meant, and a visible one before one beside the finger', () => {
  const under = upright(packet);
  const over = { ...upright(bomb), x: under.x + 20, y: under.y };
  assert.equal(pick([under, over], over.x, over.y), over);
  assert.equal(pick([over, under], over.x, over.y), under);
  const beside = { ...under, x: under.x + under.width + 10 };
  assert.equal(pick([under, beside], under.x + under.width / 2 - 1, under.y), under);
  assert.equal(pick([under, beside], under.x + under.width / 2 + 7, under.y), beside, 'in the gap the nearer one');
});

test('what falls is drawn far to near, and only what falls', () => {
  const drops = Array.from({ length: 40 }, (_, i) => ({ drop: i + 1, kind: 'packet', at_ms: i * 500, lane: 100 }));
  const places = dropPlaces(drops, 10_000, phone);
  assert.deepEqual(places.map(({ drop }) => drop.drop).sort((a, b) => a - b), [15, 16, 17, 18, 19, 20, 21]);
  for (let i = 1; i < places.length; i++) assert.ok(places[i - 1].depth <= places[i].depth);
});
