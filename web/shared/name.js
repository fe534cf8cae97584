import { html } from './view.js';

/**
 * What a person typed, as text only and with its own writing direction. Names may come a little late.
 * @param {{text: string}} props
 */
export const Name = ({ text }) => html`<bdi class="name">${text || '…'}</bdi>`;
