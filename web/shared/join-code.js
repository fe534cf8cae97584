/** Letters of join codes; those that people mistake for one another are not among them. */
const LETTERS = /^[A-HJ-KMNP-Z2-9]{6}$/;

/**
 * Brings a typed code into its form; '' if it cannot be one.
 * @param {string} typed
 */
export function parseJoinCode(typed) {
  const code = typed.replace(/[\s-]/g, '').toUpperCase();
  return LETTERS.test(code) ? code : '';
}
