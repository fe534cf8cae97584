import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

const web = fileURLToPath(new URL('..', import.meta.url));
const PAGES = ['join', 'player', 'host', 'screen'];
/** What a page loads before it shows anything, and what it loads in all, such as charts and the check of a round. */
const MOST_AT_ONCE = 110 * 1024;
const MOST_IN_ALL = 130 * 1024;
const MOST_LINES = 300;

/** Static imports and re-exports, at the beginning of a statement. */
const STATIC = /(?:^|;)\s*(?:import|export)\b(?:[^;'"`]*?\bfrom)?\s*['"]([^'"]+)['"]/gm;
/** Those and import(), which is not a type's. */
const ANY = /(?:(?:^|;)\s*(?:import|export)\b(?:[^;'"`]*?\bfrom)?|(?<!typeof |\{)\bimport\()\s*['"]([^'"]+)['"]/gm;

/** Every module that a module loads by such imports, whatever the path to it, and itself. */
function modulesOf(file, imports, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, path] of readFileSync(file, 'utf8').matchAll(imports)) {
    assert.ok(path.startsWith('.'), `${relative(web, file)} imports ${path}, which no browser can find`);
    modulesOf(join(dirname(file), path), imports, found);
  }
  return found;
}

/** The size of files as they travel. */
const packed = (files) => files.reduce((sum, file) => sum + gzipSync(readFileSync(file), { level: 9 }).length, 0);

for (const page of PAGES) {
  test(`the scripts of ${page} are light enough for a phone on a poor line`, () => {
    const atOnce = [...modulesOf(join(web, page, 'main.js'), STATIC)];
    const inAll = [...modulesOf(join(web, page, 'main.js'), ANY)];
    assert.ok(atOnce.length > 10 && packed(atOnce) <= MOST_AT_ONCE, `${atOnce.length} modules of ${packed(atOnce)} bytes at once, packed`);
    assert.ok(packed(inAll) <= MOST_IN_ALL, `${inAll.length} modules of ${packed(inAll)} bytes in all, packed`);
  });
}

test('modules are short enough to be read', () => {
  const long = [...PAGES, 'shared'].flatMap((folder) => readdirSync(join(web, folder)).filter((name) => name.endsWith('.js'))
    .map((name) => ({ name: `${folder}/${name}`, lines: readFileSync(join(web, folder, name), 'utf8').split('\n').length - 1 })))
    .filter(({ lines }) => lines > MOST_LINES);
  assert.deepEqual(long, []);
});
