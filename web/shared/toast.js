import { html, signal } from './view.js';

/** @typedef {'plain'|'good'|'bad'|'announcement'} ToastKind announcement: what the host says to everybody */

/** @type {Record<ToastKind, number>} */
const SHOWN_MS = { plain: 4000, good: 4000, bad: 4000, announcement: 15_000 };

/** @type {import('../vendor/signals-core.js').Signal<{id: number, text: string, kind: ToastKind}[]>} */
const toasts = signal([]);
let lastId = 0;

/**
 * Shows a sentence for a few seconds. The same sentence is not shown twice at a time.
 * @param {string} text
 * @param {ToastKind} [kind]
 */
export function showToast(text, kind = 'plain') {
  if (toasts.value.some((toast) => toast.text === text)) return;
  const id = ++lastId;
  toasts.value = [...toasts.value, { id, text, kind }];
  setTimeout(() => {
    toasts.value = toasts.value.filter((toast) => toast.id !== id);
  }, SHOWN_MS[kind]);
}

/** Where toasts appear; once a page. */
export function Toasts() {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${toasts.value.map(({ id, text, kind }) => html`<p key=${id} class="toast toast-${kind}" data-test="toast" data-kind=${kind}><bdi>${text}</bdi></p>`)}
  </div>`;
}
