import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, test } from 'node:test';
import { addWords, setLanguage, t } from './i18n.js';
import { words as hostEn } from '../host/words.en.js';
import { words as hostZh } from '../host/words.zh.js';
import { words as playerEn } from '../player/words.en.js';
import { words as playerZh } from '../player/words.zh.js';
import { words as sharedEn } from './words.en.js';
import { words as sharedZh } from './words.zh.js';

const sharedKeys = new Set([...Object.keys(sharedEn), ...Object.keys(sharedZh)]);
addWords({ en: hostEn, zh: hostZh });
addWords({ en: playerEn, zh: playerZh });
const en = { ...sharedEn, ...hostEn, ...playerEn };
const zh = { ...sharedZh, ...hostZh, ...playerZh };

const web = fileURLToPath(new URL('..', import.meta.url));
const FORM = /\.(zero|one|two|few|many|other)$/;

/** The code of the pages, without comments, which may be in any words. */
const sources = ['join', 'player', 'host', 'screen', 'shared'].flatMap((folder) =>
  readdirSync(join(web, folder)).filter((file) => file.endsWith('.js') && !/\.test\.js$|^words\./.test(file))
    .map((file) => ({ name: `${folder}/${file}`, text: withoutComments(readFileSync(join(web, folder, file), 'utf8')) })));

function withoutComments(text) {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
}

afterEach(() => setLanguage('zh'));

test('no page says otherwise what all pages say', () => {
  for (const own of [hostEn, hostZh, playerEn, playerZh]) {
    assert.deepEqual(Object.keys(own).filter((key) => sharedKeys.has(key)), []);
  }
});

test('both languages have the same keys', () => {
  const keys = (dictionary) => [...new Set(Object.keys(dictionary).map((key) => key.replace(FORM, '')))].sort();
  assert.deepEqual(keys(en), keys(zh));
});

test('each language has every plural form that it needs', () => {
  for (const [tag, dictionary] of Object.entries({ zh, en })) {
    const forms = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
    const plurals = new Set(Object.keys(dictionary).filter((key) => FORM.test(key)).map((key) => key.replace(FORM, '')));
    for (const key of plurals) for (const form of forms) assert.ok(`${key}.${form}` in dictionary, `${tag} lacks ${key}.${form}`);
  }
});

test('both languages fill in the same names', () => {
  const names = (text) => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort().join();
  for (const [key, text] of Object.entries(zh)) {
    if (key === 'product' || en[key] === undefined) continue;
    assert.equal(names(en[key]), names(text), key);
  }
});

test('words are found, filled in, and take the form of their number', () => {
  assert.equal(t('packets', { n: 1 }), '1 个红包');
  setLanguage('en');
  assert.equal(t('packets', { n: 1 }), '1 packet');
  assert.equal(t('packets', { n: 1234 }), '1,234 packets');
  assert.equal(t('totals.of', { part: 3, all: 10 }), '3 / 10');
});

test('every key that the code names exists', () => {
  const known = new Set(Object.keys(zh).map((key) => key.replace(FORM, '')));
  const missing = sources.flatMap(({ name, text }) =>
    [...text.matchAll(/\bt\('([\w.]+)'/g)].filter((match) => !known.has(match[1])).map((match) => `${name}: ${match[1]}`));
  assert.deepEqual(missing, []);
});

test('every key that the code makes up has its words', () => {
  const made = {
    connection: ['connecting', 'open', 'waiting', 'ended'],
    phase: ['draft', 'countdown', 'raining', 'closed', 'settled'],
    reason: ['time', 'sold_out', 'stopped', 'cancelled', 'interrupted'],
    verdict: ['capped', 'sold_out', 'frozen'],
    ended: ['session', 'connection'],
    preset: ['party', 'stream', 'test'],
    'preset_hint': ['party', 'stream', 'test'],
    check: ['redis', 'database', 'durability', 'settlement'],
    rehearsal: ['running', 'done', 'failed'],
    tab: ['rounds', 'players', 'books', 'rehearsals'],
    key: ['new', 'start', 'stop', 'announce', 'rounds', 'players', 'books', 'rehearsals', 'help'],
    payout: ['paid', 'pending', 'failed'],
    sum: ['budget_cents', 'claimed_cents', 'refunded_cents', 'held_cents', 'paid_out_cents'],
    door: ['locked', 'app_only'],
    door_hint: ['locked', 'app_only'],
    hold_why: ['host', 'keys_lost', 'claims_lost', 'books_differ', 'unknown'],
    hold_do: ['host', 'keys_lost', 'claims_lost', 'books_differ', 'unknown'],
    missed: ['room_busy', 'not_running'],
    report: ['players', 'taps', 'rate', 'won', 'p50', 'p99'],
    choice: ['even', 'burst', 'live', 'dealt', 'double_mean', 'equal', 'tiers'],
    'hint.pace': ['even', 'burst'],
    'hint.split': ['live', 'dealt'],
    unready: ['unreachable', 'full', 'read_only', 'locked', 'no_rights', 'unheard', 'not_durable', 'late', 'unknown'],
    'hint.deal': ['double_mean', 'equal', 'tiers'],
  };
  const fields = ['title', 'total_cents', 'packets', 'duration_ms', 'cap', 'min_cents', 'max_cents', 'countdown_ms', 'drops_per_second', 'bomb_percent', 'close_when_sold_out'];
  for (const [group, names] of Object.entries({ ...made, field: fields, hint: fields })) {
    for (const name of names) assert.ok(`${group}.${name}` in zh, `${group}.${name}`);
  }
});

test('no key is left that nobody uses', () => {
  const all = sources.map(({ text }) => text).join('\n');
  const madeUp = /^(connection|phase|reason|verdict|ended|choice|field|hint|limit|error|notice|preset|preset_hint|check|rehearsal|tab|key|door|door_hint|hold_why|hold_do|missed|report|payout|sum|unready)\./;
  const unused = [...new Set(Object.keys(zh).map((key) => key.replace(FORM, '')))].filter((key) => !madeUp.test(key) && !all.includes(`'${key}'`));
  assert.deepEqual(unused, []);
});

test('components have no words of their own', () => {
  const found = [];
  for (const { name, text } of sources) {
    if (/[\u3000-\u9fff\uff00-\uffef]/.test(text.replace(/＋|￥|，/g, ''))) found.push(`${name}: Chinese characters`);
    for (const template of templates(text)) {
      for (const [, words] of template.matchAll(/>([^<>]*[A-Za-z]{2,}[^<>]*)</g)) found.push(`${name}: ${words.trim()}`);
      for (const [, words] of template.matchAll(/\b(?:alt|title|placeholder|aria-label)="([^"]*[A-Za-z]{2,}[^"]*)"/g)) found.push(`${name}: ${words}`);
    }
  }
  assert.deepEqual(found, []);
});

/** The html`…` templates of a source, each without what is filled in; templates within templates on their own. */
function templates(text) {
  const found = [];
  for (let at = text.indexOf('html`'); at >= 0; at = text.indexOf('html`', at + 1)) found.push(template(text, at + 5).markup);
  return found;
}

/** Reads a template literal from just after its opening backtick. */
function template(text, start) {
  let markup = '';
  let at = start;
  while (text[at] !== '`') {
    if (text.startsWith('${', at)) {
      at = expressionEnd(text, at + 2);
      continue;
    }
    markup += text[at++];
  }
  return { markup, end: at + 1 };
}

/** Where the expression that began after ${ ends, just after its closing brace. */
function expressionEnd(text, start) {
  let depth = 1;
  let at = start;
  while (depth > 0) {
    if (text[at] === '`') {
      at = template(text, at + 1).end;
      continue;
    }
    if (text[at] === '{') depth++;
    if (text[at] === '}') depth--;
    at++;
  }
  return at;
}
