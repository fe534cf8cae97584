import { hasWords, t } from './i18n.js';

/**
 * A sentence for a code of the API or the socket. Codes without words of ours show the server's own sentence.
 * @param {string} code
 * @param {string} message
 */
export function errorText(code, message) {
  if (hasWords(`error.${code}`)) return t(`error.${code}`, { origin: globalThis.location?.origin ?? '' });
  return message && message !== code ? message : t('error.unknown');
}
