import { t } from '../shared/i18n.js';
import { html } from '../shared/view.js';

/** @import {Tapping} from './tapping.js' */

/**
 * Covers the page for two seconds after a tap on a bomb.
 * @param {{tapping: Tapping}} props
 */
export function BombOverlay({ tapping }) {
  return tapping.heldUntil.value > 0 && html`<div class="held" data-test="held" role="status">
    <svg class="held-bomb" viewBox="0 0 64 64" width="128" height="128" aria-hidden="true">
      <path class="held-fuse" d="M42 20q6-10 14-6" />
      <rect class="held-neck" x="36" y="17" width="11" height="9" rx="2" transform="rotate(45 41 21)" />
      <circle class="held-ball" cx="29" cy="38" r="20" />
      <path class="held-face" d="M19 32l7 7m0-7l-7 7M32 32l7 7m0-7l-7 7M22 49q7-6 14 0" />
    </svg>
    <p class="held-words">${t('rain.held')}</p>
    <div class="held-bar"></div>
  </div>`;
}
