import { html } from './view.js';

/**
 * A user's text, with its own writing direction; … until it is known.
 * @param {{text: string}} props
 */
export const Name = ({ text }) => html`<bdi class="name">${text || '…'}</bdi>`;
