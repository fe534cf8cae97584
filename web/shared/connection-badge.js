import { t } from './i18n.js';
import { html } from './view.js';

/** @import {Connection} from './socket.js' */

/**
 * A dot while the connection is open, else its state in words.
 * @param {{connection: Connection}} props
 */
export function ConnectionBadge({ connection }) {
  const state = connection.state.value;
  const words = t(`connection.${state}`);
  return html`<span class="connection" data-test="connection" data-state=${state} role="status" title=${words}>
    <span class="connection-dot" aria-hidden="true"></span>
    <span class=${state === 'open' ? 'visually-hidden' : ''}>${words}</span>
  </span>`;
}
