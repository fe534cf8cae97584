import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const web = new URL('../', import.meta.url);

for (const language of ['en-US@posix', 'C', 'C.UTF-8', 'de_DE.UTF-8', '', '*', null, 'zh-CN', undefined]) {
  test(`libraries that give Intl the browser's language load when that is ${language}`, async () => {
    Object.defineProperty(globalThis, 'navigator', { value: { language, languages: [language ?? 'en'] }, configurable: true });
    const { t } = await import(`./i18n.js?${language}`);
    assert.ok(new Intl.NumberFormat(navigator.language).format(1234));
    assert.equal(typeof t('loading'), 'string');
    if (language === 'zh-CN') assert.equal(navigator.language, language, 'a good tag stays');
  });
}

test('a library that asks for the language as it loads comes after what makes it well formed', () => {
  const vendored = readdirSync(new URL('vendor/', web)).filter((name) => name.endsWith('.js') && /\bnew Intl\.\w+\(/.test(readFileSync(new URL(`vendor/${name}`, web), 'utf8')));
  assert.deepEqual(vendored, ['uplot.js']);
  const loaders = ['join', 'player', 'host', 'screen', 'shared'].flatMap((folder) => readdirSync(new URL(`${folder}/`, web))
    .filter((name) => name.endsWith('.js')).map((name) => `${folder}/${name}`))
    .filter((name) => /^(?:import|export) .*vendor\/uplot\.js/m.test(readFileSync(new URL(name, web), 'utf8')));
  assert.deepEqual(loaders, [], 'it is loaded by import(), when the page runs');
});

test('every call of Intl names its language', () => {
  const found = ['join', 'player', 'host', 'screen', 'shared'].flatMap((folder) => readdirSync(new URL(`${folder}/`, web))
    .filter((name) => name.endsWith('.js') && !name.includes('.test.')).flatMap((name) =>
      (readFileSync(new URL(`${folder}/${name}`, web), 'utf8').match(/\b(?:new Intl\.\w+|toLocale\w*String)\((?:\)|undefined|navigator|\[\])|localeCompare\(|toLocale(?:Upper|Lower)Case/g) ?? []).map((call) => `${folder}/${name}: ${call}`)));
  assert.deepEqual(found, []);
});
