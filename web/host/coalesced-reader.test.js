import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { fakeTime } from '../testing/fake-time.js';
import { CoalescedReader } from './coalesced-reader.js';

/** @type {ReturnType<typeof fakeTime>} */
let time;

beforeEach(() => { time = fakeTime(); });
afterEach(() => time.restore());

const settle = () => new Promise(setImmediate);

/** A reader whose readings the test answers by hand. */
function setUp(options = {}) {
  const readings = [];
  const reader = new CoalescedReader({
    read: (reading) => new Promise((answer, fail) => readings.push({ ...reading, answer, fail })), changed: () => {}, random: () => 0, ...options,
  });
  const last = () => readings[readings.length - 1];
  const answer = async (value) => { last().answer(value); await settle(); };
  const fail = async () => { last().fail(new Error('down')); await settle(); };
  return { reader, readings, last, answer, fail };
}

test('one reading is under way and one follows, however often it is asked', async () => {
  const { reader, readings, answer } = setUp();
  for (let i = 0; i < 5; i++) reader.ask();
  assert.equal(readings.length, 1);
  time.pass(450);
  await answer('first');
  assert.equal(reader.value, 'first', 'its answer counts although it was asked again');
  assert.equal(readings.length, 2);
  await answer('second');
  time.pass(1000);
  assert.deepEqual([reader.value, readings.length], ['second', 2]);
});

test('hints on a fast line are read about together', async () => {
  const { reader, readings, answer } = setUp();
  for (let i = 0; i < 100; i++) {
    reader.hint();
    await answer(i);
    time.pass(10);
  }
  assert.ok(readings.length <= 5, `${readings.length} readings in a second`);
  time.pass(300);
  await answer('in the end');
  assert.equal(reader.value, 'in the end');
});

test('whether all is in doubt is kept until a reading of all succeeds', async () => {
  const { reader, readings, answer, fail } = setUp();
  reader.ask(false);
  assert.equal(readings[0].whole, true, 'the first one');
  await answer(1);
  time.pass(300);
  reader.hint(false);
  assert.deepEqual([readings[1].whole, readings[1].known], [false, 1]);
  reader.hint(true);
  reader.hint(false);
  await answer(2);
  time.pass(300);
  assert.equal(readings[2].whole, true);
  await fail();
  time.pass(500);
  assert.equal(readings[3].whole, true, 'after a failure');
  await answer(3);
  time.pass(300);
  reader.hint(false);
  assert.equal(readings[4].whole, false);
});

test('a failure is told, retried later and later, and not hastened by hints; asking does so at once', async () => {
  const { reader, readings, answer, fail } = setUp({ random: () => 1 });
  reader.ask();
  await answer('seen');
  reader.ask();
  await fail();
  assert.equal(reader.value, 'seen');
  assert.notEqual(reader.error, '');
  for (const wait of [1000, 2000, 4000]) {
    const before = readings.length;
    reader.hint();
    time.pass(wait - 10);
    assert.equal(readings.length, before, `not within ${wait} ms`);
    time.pass(10);
    assert.equal(readings.length, before + 1);
    await fail();
  }
  reader.ask();
  await answer('again');
  assert.deepEqual([reader.value, reader.error], ['again', '']);
  time.pass(20_000);
  assert.equal(readings.length, 6, 'no attempt is left over');
});

test('a reading that does not end is given up', async () => {
  const { reader, readings, answer } = setUp();
  reader.ask();
  time.pass(15_000);
  assert.equal(readings[0].signal.aborted, true);
  assert.notEqual(reader.error, '');
  time.pass(500);
  assert.equal(readings.length, 2);
  readings[0].answer('too late');
  await settle();
  assert.equal(reader.value, null);
  await answer('in time');
  assert.equal(reader.value, 'in time');
});

test('what was changed here is not undone by an answer that did not know of it, and is checked by the next', async () => {
  const { reader, readings, answer } = setUp();
  reader.ask();
  await answer(['Ann', 'Bob']);
  reader.ask();
  reader.change((names) => names.map((name) => name.replace('Ann', 'Anna')));
  assert.deepEqual(reader.value, ['Anna', 'Bob'], 'at once');
  await answer(['Ann', 'Bob', 'Cat']);
  assert.deepEqual(reader.value, ['Anna', 'Bob', 'Cat']);
  time.pass(300);
  assert.equal(readings.length, 3);
  await answer(['Anna', 'Bob', 'Cat']);
  reader.change(() => ['nobody']);
  time.pass(1000);
  assert.equal(readings.length, 3, 'without a reading under way there is nothing to check');
});

test('it is read by the clock as often as its value wants, while somebody looks', async () => {
  let awake = true;
  const { reader, readings, answer } = setUp({ every: (value) => value, awake: () => awake });
  reader.ask();
  await answer(2000);
  time.pass(2000);
  assert.equal(readings.length, 2);
  await answer(2000);
  awake = false;
  time.pass(60_000);
  assert.equal(readings.length, 2);
  awake = true;
  reader.ask();
  await answer(0);
  time.pass(60_000);
  assert.equal(readings.length, 3);
});

test('one that was stopped neither reads nor tells', async () => {
  let told = 0;
  const { reader, readings, answer } = setUp({ changed: () => told++ });
  reader.ask();
  reader.hint();
  reader.stop();
  assert.equal(readings[0].signal.aborted, true);
  await answer('unheard');
  time.pass(60_000);
  assert.deepEqual([reader.value, told, readings.length], [null, 0, 1]);
});
