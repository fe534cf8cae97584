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

/**
 * Reads a decimal text as a whole number of its smallest unit, exactly: '12.3' with 2 places is 1230. Null when it is not a
 * plain non-negative number, has more places, or is too large to be counted exactly.
 * @param {string} text
 * @param {number} places
 * @returns {number|null}
 */
export function parseUnits(text, places) {
  const typed = text.trim().replace(/[¥￥,，\s]/g, '');
  const match = /^(\d{0,15})(?:\.(\d*))?$/.exec(typed);
  if (!match || typed === '' || typed === '.') return null;
  const fraction = (match[2] ?? '').replace(/0+$/, '');
  if (fraction.length > places) return null;
  const units = Number(`${match[1] || '0'}${fraction.padEnd(places, '0')}`);
  return Number.isSafeInteger(units) ? units : null;
}
