import { html } from './view.js';

/** Drawings on a field of 24 by 24, as lines. @type {Record<string, string>} */
const LINES = {
  'sound-on': 'M4 9.5h3.5L12 5.5v13l-4.5-4H4zM15.5 9a4.2 4.2 0 0 1 0 6M18 6.5a7.8 7.8 0 0 1 0 11',
  'sound-off': 'M4 9.5h3.5L12 5.5v13l-4.5-4H4zM16 9.5l5 5M21 9.5l-5 5',
  'calm-off': 'M5 4.5v5M12 7v7M19 4.5v5M8.5 14v5M15.5 16v4',
  'calm-on': 'M4.5 4.5h6v6h-6zM13.5 4.5h6v6h-6zM4.5 13.5h6v6h-6zM13.5 13.5h6v6h-6z',
  'full-off': 'M9 4v5H4M15 4v5h5M9 20v-5H4M15 20v-5h5',
  'full-on': 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5',
};

/**
 * A switch that is only a picture; its words are its label and its tooltip.
 * @param {{icon: string, label: string, pressed?: boolean, test: string, onClick: () => void}} props
 */
export function IconButton({ icon, label, pressed, test, onClick }) {
  return html`<button type="button" class="quiet-button icon-button" data-test=${test} aria-label=${label} title=${label}
    aria-pressed=${pressed} onClick=${onClick}>
    <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true"><path d=${LINES[icon]} /></svg>
  </button>`;
}
