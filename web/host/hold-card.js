import { asApiError } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { showToast } from '../shared/toast.js';
import { html } from '../shared/view.js';
import { holdRound } from './host-api.js';

/** @import {Round} from '../shared/messages.js' */

/**
 * Why a round is on hold, and what its host can do about it.
 * @param {{round: Round}} props
 */
export function HoldCard({ round }) {
  const why = round.hold || 'unknown'; // it is told a moment later
  const release = () => holdRound(round.id, 'release').catch((failure) => showToast(asApiError(failure).text, 'bad'));
  return html`<section class="hold-card" data-test="on-hold" data-hold=${round.hold} role="alert">
    <h3>${t(`hold_why.${why}`)}</h3>
    <p>${t(`hold_do.${why}`)}</p>
    <div class="round-buttons">
      <button type="button" class="button button-plain" data-test="release-hold" onClick=${release}>${t('books.release')}</button>
    </div>
  </section>`;
}
