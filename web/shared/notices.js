import { errorText } from './error-text.js';
import { hasWords, t } from './i18n.js';
import { showToast } from './toast.js';

/** @import {Notice} from './messages.js' */
/** @import {Store} from './store.js' */

/** Notices without words are for programs. @param {Notice} notice */
function showNotice({ code, text }) {
  const words = hasWords(`notice.${code}`) ? t(`notice.${code}`) : text;
  if (words) showToast(words, code === 'announcement' ? 'announcement' : 'plain');
}

/**
 * Shows the server's notices and refusals as toasts.
 * @param {Store} store
 */
export function listenForNotices(store) {
  return store.listen((message) => {
    if (message.type === 'notice') showNotice(message);
    if (message.type === 'error') showToast(errorText(message.code, message.message), 'bad');
  });
}
