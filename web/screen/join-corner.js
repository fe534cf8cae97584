import { qrAddress } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { useJoinAddress } from '../shared/join-address.js';
import { html } from '../shared/view.js';

/**
 * The way in for late comers, small, beside everything else.
 * @param {{code: string}} props
 */
export function JoinCorner({ code }) {
  const { at } = useJoinAddress(code);
  return html`<aside class="corner">
  <img class="corner-qr" data-test="qr" src=${qrAddress(code, at)} alt=${t('share.qr')} width="160" height="160" />
  <p><span class="corner-label">${t('screen.code')}</span><span class="corner-code" data-test="join-code" data-code=${code}>${code}</span></p>
</aside>`;
}
