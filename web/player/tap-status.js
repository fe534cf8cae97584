import { t } from '../shared/i18n.js';
import { html } from '../shared/view.js';

/** @import {Tapping} from './tapping.js' */

/**
 * Why taps cannot win at the moment.
 * @param {{tapping: Tapping}} props
 */
export function TapStatus({ tapping }) {
  const verdict = tapping.verdict.value;
  return verdict && html`<p class="verdict" data-test="verdict" data-verdict=${verdict} role="status">${t(`verdict.${verdict}`)}</p>`;
}
