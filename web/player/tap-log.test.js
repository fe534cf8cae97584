import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANSWER_WITHIN_MS, TapLog } from './tap-log.js';

test('a tap is not sent again while its answer is awaited, and can be after that', () => {
  const taps = new TapLog();
  assert.ok(taps.mayTap(17, 0));
  taps.tapped(17, 0);
  assert.ok(!taps.mayTap(17, ANSWER_WITHIN_MS - 1));
  assert.ok(taps.mayTap(17, ANSWER_WITHIN_MS));
  assert.ok(taps.mayTap(18, 1));
});

test('after each outcome the drop is as the protocol says', () => {
  const done = ['won', 'duplicate', 'missed', 'bomb'];
  const again = ['early', 'unknown_drop', 'throttled', 'frozen', 'busy', 'capped', 'sold_out', 'late'];
  for (const outcome of [...done, ...again]) {
    const taps = new TapLog();
    taps.tapped(17, 0);
    taps.answered(17, outcome);
    assert.equal(taps.mayTap(17, 1), again.includes(outcome), outcome);
    assert.equal(taps.isDone(17), done.includes(outcome), outcome);
    assert.deepEqual(taps.unanswered(), [], outcome);
  }
});

test('a claim that overrides a busy answer ends the drop', () => {
  const taps = new TapLog();
  taps.tapped(17, 0);
  taps.answered(17, 'busy');
  taps.answered(17, 'won');
  assert.ok(!taps.mayTap(17, 10_000));
});

test('taps whose answer was lost with the connection are known', () => {
  const taps = new TapLog();
  taps.tapped(17, 0);
  taps.tapped(18, 0);
  taps.answered(17, 'missed');
  assert.deepEqual(taps.unanswered(), [18]);
});
