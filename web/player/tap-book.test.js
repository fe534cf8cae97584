import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANSWER_WITHIN_MS, TapBook } from './tap-book.js';

test('a tap is not sent again while its answer is awaited, and can be after that', () => {
  const book = new TapBook();
  assert.ok(book.mayTap(17, 0));
  book.tapped(17, 0);
  assert.ok(!book.mayTap(17, ANSWER_WITHIN_MS - 1));
  assert.ok(book.mayTap(17, ANSWER_WITHIN_MS));
  assert.ok(book.mayTap(18, 1));
});

test('after each outcome the drop is as the protocol says', () => {
  const done = ['won', 'duplicate', 'missed', 'bomb'];
  const again = ['early', 'unknown_drop', 'throttled', 'frozen', 'busy', 'capped', 'sold_out', 'late'];
  for (const outcome of [...done, ...again]) {
    const book = new TapBook();
    book.tapped(17, 0);
    book.answered(17, outcome);
    assert.equal(book.mayTap(17, 1), again.includes(outcome), outcome);
    assert.equal(book.isDone(17), done.includes(outcome), outcome);
    assert.deepEqual(book.unanswered(), [], outcome);
  }
});

test('a claim that overrides a busy answer ends the drop', () => {
  const book = new TapBook();
  book.tapped(17, 0);
  book.answered(17, 'busy');
  book.answered(17, 'won');
  assert.ok(!book.mayTap(17, 10_000));
});

test('taps whose answer was lost with the connection are known', () => {
  const book = new TapBook();
  book.tapped(17, 0);
  book.tapped(18, 0);
  book.answered(17, 'missed');
  assert.deepEqual(book.unanswered(), [18]);
});
