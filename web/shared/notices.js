import { errorText } from './errors.js';
import { hasWords, t } from './i18n.js';
import { showToast } from './toast.js';

/** @import {Store} from './store.js' */

/**
 * Shows the server's notices and refusals as toasts.
 * @param {Store} store
 */
export function listenForNotices(store) {
  return store.listen((message) => {
    if (message.type === 'notice') showToast(hasWords(`notice.${message.code}`) ? t(`notice.${message.code}`) : message.text);
    if (message.type === 'error') showToast(errorText(message.code, message.message), 'bad');
  });
}
