import { signal } from '../vendor/signals-core.js';
import { recall, remember } from './device-settings.js';
import { words as en } from './words.en.js';
import { words as zh } from './words.zh.js';

/** @typedef {'zh'|'en'} Language */

// Some browsers name a language that is no tag, en-US@posix, which libraries pass to Intl as they load.
const { navigator } = globalThis;
try {
  Intl.getCanonicalLocales(navigator?.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en', configurable: true });
}

const NAME = 'language';
/** @type {Record<Language, Record<string, string>>} */
const dictionaries = { zh, en };
/** @type {Record<Language, string>} */
const tags = { zh: 'zh-CN', en: 'en' };

/**
 * Adds a page's own words to those that all pages share, before it is shown.
 * @param {Record<Language, Record<string, string>>} more
 */
export function addWords(more) {
  for (const [name, words] of Object.entries(more)) Object.assign(dictionaries[/** @type {Language} */ (name)], words);
}

/** The language shown. Whoever renders words by t() follows it. */
export const language = signal(initialLanguage());

/** The BCP 47 tag of the language shown, for Intl and the lang attribute. */
export const languageTag = () => tags[language.value];

/** @param {Language} next */
export function setLanguage(next) {
  language.value = next;
  remember(NAME, next);
}

/**
 * The words of a key, with {names} filled in. With a number called n the form for it is taken, where the language has
 * forms: key.one beside key.other.
 * @param {string} key
 * @param {Record<string, string|number>} [values]
 */
export function t(key, values = {}) {
  return fill(pick(language.value, key, values.n), values);
}

/** @param {string} key */
export const hasWords = (key) => key in dictionaries[language.value];

/** @param {Language} chosen @param {string} key @param {string|number|undefined} n */
function pick(chosen, key, n) {
  const dictionary = dictionaries[chosen];
  if (dictionary[key] !== undefined) return dictionary[key];
  const form = typeof n === 'number' ? new Intl.PluralRules(tags[chosen]).select(n) : 'other';
  return dictionary[`${key}.${form}`] ?? dictionary[`${key}.other`] ?? key;
}

/** @param {string} text @param {Record<string, string|number>} values */
function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === 'number' ? value.toLocaleString(languageTag()) : String(value ?? '');
  });
}

/** @returns {Language} */
function initialLanguage() {
  const remembered = recall(NAME);
  if (remembered === 'zh' || remembered === 'en') return remembered;
  const wanted = navigator?.languages ?? [];
  const known = wanted.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag === 'zh' || tag === 'en');
  return /** @type {Language} */ (known ?? (wanted.length > 0 ? 'en' : 'zh'));
}
