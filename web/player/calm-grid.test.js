import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CalmGrid, CELLS, cellBeside, cellOf } from './calm-grid.js';

const drop = (id, at_ms, kind = 'packet') => ({ drop: id, kind, at_ms, lane: 0 });
const mapOf = (...drops) => new Map(drops.map((one) => [one.drop, one]));
const ids = (grid) => grid.cells.map((one) => one?.drop ?? 0);
const none = () => false;

test('a drop stands in its cell from the moment it begins to fall', () => {
  const grid = new CalmGrid();
  const drops = mapOf(drop(1, 1000), drop(3, 1500));
  assert.ok(!grid.update(drops, 999, none));
  assert.ok(!grid.update(drops, NaN, none), 'before the clock is known nothing falls');
  assert.ok(grid.update(drops, 1000, none));
  assert.deepEqual(ids(grid).slice(0, 4), [1, 0, 0, 0]);
  assert.ok(!grid.update(drops, 1100, none), 'nothing new');
  assert.ok(grid.update(drops, 1600, none));
  assert.deepEqual(ids(grid).slice(0, 4), [1, 0, 3, 0]);
});

test('nothing comes in a packet\'s place while it stands', () => {
  const grid = new CalmGrid();
  const drops = mapOf(drop(1, 1000), drop(1 + CELLS, 2000));
  grid.update(drops, 1000, none);
  grid.update(drops, 2500, none);
  assert.equal(ids(grid)[0], 1);
  grid.update(drops, 2600, (id) => id === 1);
  assert.equal(ids(grid)[0], 1 + CELLS, 'once it is done the next one stands there');
});

test('bombs go sooner than packets, and all go in the end', () => {
  const grid = new CalmGrid();
  const drops = mapOf(drop(1, 0, 'bomb'), drop(2, 0));
  grid.update(drops, 3999, none);
  assert.deepEqual(ids(grid).slice(0, 2), [1, 2]);
  grid.update(drops, 4000, none);
  assert.deepEqual(ids(grid).slice(0, 2), [0, 2]);
  grid.update(drops, 9000, none);
  assert.deepEqual(ids(grid).slice(0, 2), [0, 0]);
  assert.equal(drops.size, 0, 'what is of no more use is forgotten');
});

test('a drop has the same cell on every device', () => {
  assert.equal(cellOf(1), 0);
  assert.equal(cellOf(CELLS), CELLS - 1);
  assert.equal(cellOf(CELLS + 1), 0);
});

test('arrows lead to the cell beside, and not out of the grid', () => {
  assert.equal(cellBeside(0, 'ArrowRight', 3), 1);
  assert.equal(cellBeside(0, 'ArrowDown', 3), 3);
  assert.equal(cellBeside(0, 'ArrowUp', 3), 0);
  assert.equal(cellBeside(CELLS - 1, 'ArrowRight', 3), CELLS - 1);
  assert.equal(cellBeside(5, 'a', 3), 5);
});
