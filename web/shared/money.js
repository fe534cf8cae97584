import { languageTag } from './i18n.js';

/** @type {Map<string, Intl.NumberFormat>} */
const formats = new Map();

/**
 * An amount as people read it, such as ¥12.34. It never goes through a float: Intl takes decimal text as it is.
 * @param {number} cents an integer
 * @param {string} [tag] language, by default the page's
 */
export function money(cents, tag = languageTag()) {
  let format = formats.get(tag);
  if (!format) {
    format = new Intl.NumberFormat(tag, { style: 'currency', currency: 'CNY', currencyDisplay: 'narrowSymbol' });
    formats.set(tag, format);
  }
  return format.format(/** @type {any} */ (decimal(cents)));
}

/**
 * Cents as plain decimal text in yuan, such as 12.34, for inputs.
 * @param {number} cents an integer
 */
export function decimal(cents) {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

const YUAN = '(?:CN¥|¥CN|¥|CNY|RMB|\u5143)';
const CURRENCY = new RegExp(`^${YUAN}|${YUAN}$`, 'i');
const PLAIN = /^(?<whole>\d*)(?:[,.\u066b](?<fraction>\d*))?$/;
/** Groups of three by one mark, then perhaps a decimal mark, which is another one. */
const GROUPED = /^(?<whole>[1-9]\d{0,2}(?<mark>[,. '])\d{3}(?:\k<mark>\d{3})*)(?:(?!\k<mark>)[,.\u066b](?<fraction>\d*))?$/;
/** A thousand and more to some people, and a few with three decimal places to others. */
const UNCLEAR = /^[1-9]\d{0,2}[,.]\d{3}$/;

/**
 * Reads a number as people write it, as a whole number of its smallest unit, exactly: '12.3' and '12,3' with 2 places are 1230.
 * Null when it is no plain non-negative number, has more places, is too large to be counted exactly, or can be read as two
 * numbers. With 3 places a point is always decimal, since pages themselves write it so.
 * @param {string} text
 * @param {number} places
 * @returns {number|null}
 */
export function parseUnits(text, places) {
  const typed = folded(text);
  if (UNCLEAR.test(typed) && !(places === 3 && typed.includes('.'))) return null;
  const { whole = '', fraction = '' } = (PLAIN.exec(typed) ?? GROUPED.exec(typed))?.groups ?? {};
  if (whole + fraction === '') return null;
  const rest = fraction.replace(/0+$/, '');
  const units = Number(`${whole.replace(/\D/g, '')}${rest.padEnd(places, '0')}`);
  return rest.length <= places && Number.isSafeInteger(units) ? units : null;
}

/** A number in the digits and marks of ASCII, without its currency; '' if digits in it are no places, as in 5². @param {string} text */
function folded(text) {
  if (/\p{No}/u.test(text)) return '';
  return text.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '').replace(/\p{Nd}/gu, digit)
    .replace(/\s/g, ' ').replace(/[\u2018\u2019\u02bc\u066c]/g, "'").replace(/\u060c/g, ',').replace(/\u3002/g, '\u066b')
    .trim().replace(CURRENCY, '').trim();
}

/** The digits of a script follow one another from its zero. @param {string} of */
function digit(of) {
  const code = /** @type {number} */ (of.codePointAt(0));
  let value = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value++;
  return String(value % 10);
}
