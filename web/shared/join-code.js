/** Letters of join codes; those that people mistake for one another are not among them. */
const LETTERS = /^[A-HJ-KMNP-Z2-9]{6}$/;

/** A code in the letters it is made of, whatever their width and case, without what stands between them. @param {string} typed */
export const foldCode = (typed) => typed.normalize('NFKC').replace(/[^\p{L}\p{N}]/gu, '').toUpperCase();

/**
 * Brings a typed code into its form; '' if it cannot be one.
 * @param {string} typed
 */
export function parseJoinCode(typed) {
  const code = foldCode(typed);
  return LETTERS.test(code) ? code : '';
}

/** The room code in the address of this page, as in /r/CODE. What cannot be decoded is a room that does not exist. */
export function codeInPath() {
  const part = location.pathname.split('/')[2] ?? '';
  try {
    return foldCode(decodeURIComponent(part));
  } catch {
    return part;
  }
}
