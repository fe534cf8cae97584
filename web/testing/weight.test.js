import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

const web = fileURLToPath(new URL('..', import.meta.url));
const PAGES = ['join', 'player', 'host', 'screen'];
/** Guests' pages are opened by a hall at once; the host's has charts, and is opened by few. */
const mostBytes = (/** @type {string} */ page) => (page === 'host' ? 124 : 120) * 1024;
const MOST_LINES = 300;

/** Static imports and re-exports, at the beginning of a statement; dynamic ones too. */
const IMPORT = /(?:(?:^|;)\s*(?:import|export)\b(?:[^;'"`]*?\bfrom)?|\bimport\()\s*['"]([^'"]+)['"]/gm;

/** Every module that a page loads, whatever the path to it. */
function modulesOf(file, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, path] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    assert.ok(path.startsWith('.'), `${relative(web, file)} imports ${path}, which no browser can find`);
    modulesOf(join(dirname(file), path), found);
  }
  return found;
}

for (const page of PAGES) {
  test(`the scripts of ${page} are light enough for a phone on a poor line`, () => {
    const files = [...modulesOf(join(web, page, 'main.js'))];
    const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(file), { level: 9 }).length, 0);
    assert.ok(files.length > 10 && bytes <= mostBytes(page), `${files.length} modules of ${bytes} bytes, packed`);
  });
}

test('modules are short enough to be read', () => {
  const long = [...PAGES, 'shared'].flatMap((folder) => readdirSync(join(web, folder)).filter((name) => name.endsWith('.js'))
    .map((name) => ({ name: `${folder}/${name}`, lines: readFileSync(join(web, folder, name), 'utf8').split('\n').length - 1 })))
    .filter(({ lines }) => lines > MOST_LINES);
  assert.deepEqual(long, []);
});
