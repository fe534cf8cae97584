import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortcutOf } from './shortcuts.js';

const press = (key, more = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, repeat: false, isComposing: false, ...more });
const at = (tagName, isContentEditable = false) => ({ tagName, isContentEditable });

test('a key is a shortcut where nobody types', () => {
  assert.equal(shortcutOf(press('n'), at('BODY'), false), 'new');
  assert.equal(shortcutOf(press('S'), at('BUTTON'), false), 'start');
  assert.equal(shortcutOf(press('?'), null, false), 'help');
  assert.equal(shortcutOf(press('q'), at('BODY'), false), null);
});

// Shortcuts must not fire while somebody types.
test('no shortcut while typing', () => {
  for (const tag of ['INPUT', 'TEXTAREA', 'SELECT']) assert.equal(shortcutOf(press('x'), at(tag), false), null, tag);
  assert.equal(shortcutOf(press('x'), at('DIV', true), false), null, 'editable text');
  assert.equal(shortcutOf(press('x', { isComposing: true }), at('BODY'), false), null, 'an input method composes');
});

test('no shortcut with another key held, while a key is held down, or while a dialog asks', () => {
  for (const held of ['ctrlKey', 'metaKey', 'altKey', 'repeat']) assert.equal(shortcutOf(press('s', { [held]: true }), at('BODY'), false), null, held);
  assert.equal(shortcutOf(press('s'), at('BODY'), true), null);
});
