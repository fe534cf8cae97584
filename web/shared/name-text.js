import { html } from './view.js';

/**
 * A user's text, with its own writing direction; … until it is known, and for a blocked player.
 * @param {{text: string}} props
 */
export const Name = ({ text }) => html`<bdi class="name">${text || '…'}</bdi>`;
