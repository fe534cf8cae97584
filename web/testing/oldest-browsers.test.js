import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const web = new URL('../', import.meta.url);
const PAGES = ['join', 'player', 'screen', 'host'];

/** Every module of ours in these folders. @param {string[]} folders */
const modules = (folders) => folders.flatMap((folder) => readdirSync(new URL(`${folder}/`, web))
  .filter((name) => name.endsWith('.js') && !name.includes('.test.'))
  .map((name) => ({ name: `${folder}/${name}`, text: readFileSync(new URL(`${folder}/${name}`, web), 'utf8') })));

/** @param {string[]} folders @param {Record<string, RegExp>} tooNew */
const found = (folders, tooNew) => modules(folders).flatMap(({ name, text }) =>
  Object.entries(tooNew).filter(([, pattern]) => pattern.test(text)).map(([what]) => `${name}: ${what}`));

// Vendored modules need Safari 14 and Chrome 85 anyway, for ||= and fields of classes; private fields cost Safari 14.1.
test('no module has syntax that the oldest browsers of the README cannot read', () => {
  assert.deepEqual(found([...PAGES, 'shared', 'vendor', 'vendor/noble-hashes'], {
    'a private method (Safari 15)': /^\s+(?:static |async |get |set |\*)*#\w+\(/m,
    'a static block (Safari 16.4)': /^\s+static \{/m,
    'a look at whether a private field exists (Safari 15)': /\(#\w+ in /,
    'a regular expression that looks behind (Safari 16.4)': /\(\?<[=!]/,
    'await outside of functions (Safari 15)': /^(?:const \S+ = )?await /m,
    'import attributes (Safari 17.2)': /^import .* with \{/m,
  }), []);
});

test('pages of guests use nothing that their oldest browsers lack', () => {
  const tooNew = {
    'at (Safari 15.4)': /(?:\w|\)|\])\.at\(-/, 'Object.hasOwn (Safari 15.4)': /\bhasOwn\(/, 'structuredClone (Safari 15.4)': /\bstructuredClone\(/,
    'findLast (Safari 15.4)': /\.findLast(?:Index)?\(/, 'roundRect of a canvas (Safari 16)': /\.roundRect\(/, 'randomUUID (Safari 15.4)': /\brandomUUID\(/,
    'signals that abort (Safari 15.4)': /\bthrowIfAborted\(|\bAbortSignal\.\w+\(/, 'dialogs (Safari 15.4)': /\.showModal\(/,
    'sorted copies (Safari 16)': /\.(?:toSorted|toReversed|toSpliced)\(/, 'Segmenter (Firefox 125)': /\bIntl\.Segmenter\b/,
    'groups of lists (Safari 17.4)': /\.groupBy\(/, 'Promise.withResolvers (Safari 17.4)': /\bwithResolvers\(/,
  };
  assert.deepEqual(found(['join', 'player', 'screen', 'shared'], tooNew), []);
});

test('every page says what to do where it does not start, with the browsers of the README', () => {
  const readme = readFileSync(new URL('../README.md', web), 'utf8');
  const [guests, hosts] = [...readme.matchAll(/Chrome and Edge (\d+), Safari (?:and iOS )?([\d.]+), Firefox (\d+)/g)];
  for (const page of PAGES) {
    const html = readFileSync(new URL(`${page}/index.html`, web), 'utf8');
    const [, chrome, safari, firefox] = page === 'host' ? hosts : guests;
    const notice = /<div id="not-running">[^]*?<\/div>/.exec(html)?.[0] ?? '';
    for (const words of [`Chrome ${chrome}、Safari ${safari}、Firefox ${firefox}`, `Chrome ${chrome}, Safari ${safari}, Firefox ${firefox}`]) assert.ok(notice.includes(words), `${page}: ${words}`);
    assert.equal(notice.match(/<a href="">/g)?.length, 2, page);
    assert.ok(html.indexOf('/assets/shared/load-again.js') < html.indexOf('rel="stylesheet"'), `${page}: what loads again comes before what may get lost`);
  }
});

test('what loads again can be read by browsers that cannot read the pages', () => {
  const text = readFileSync(new URL('shared/load-again.js', web), 'utf8');
  assert.doesNotMatch(text, /=>|\b(?:const|let|class|import|export|async)\b|\?\.|\?\?|catch \{/);
});
