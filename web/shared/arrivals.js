import { useMovingChildren } from './moving-list.js';
import { Name } from './name-text.js';
import { html } from './view.js';

/** @import {Arrival} from './messages.js' */

/**
 * People by their nicknames: whoever comes pops up in front, the others make room.
 * @param {{arrivals: Arrival[], label: string, more?: string}} props newest first; more: what follows the last one
 */
export function Arrivals({ arrivals, label, more = '' }) {
  const list = useMovingChildren();
  return html`<ul class="arrivals" ref=${list} aria-label=${label}>
    ${arrivals.map(({ player, nickname }) => html`<li key=${player} data-key=${player} class="arrival" data-test="arrival"><${Name} text=${nickname} /></li>`)}
    ${more && html`<li key="more" data-key="more" class="arrivals-more" data-test="more-arrivals">${more}</li>`}
  </ul>`;
}
