import { calm } from './calm-mode.js';
import { languageTag } from './i18n.js';
import { money } from './money.js';
import { html, useEffect, useRef } from './view.js';

const ROLL_MS = 700;

/**
 * What a counter shows on its way: fast at first, exact at the end.
 * @param {number} from
 * @param {number} to
 * @param {number} part of the way, from 0 to 1
 */
export function interpolate(from, to, part) {
  if (part >= 1) return to;
  return Math.round(from + (to - from) * (1 - (1 - Math.max(part, 0)) ** 3));
}

/**
 * An amount that rolls to its new value. The value itself stands in data-cents at once; only what one sees is on its way.
 * @param {{cents: number, test?: string, class?: string, from?: number}} props from: where it begins when it first appears
 */
export function RollingMoney({ cents, test, class: classes = '', from = cents }) {
  const place = useRef(/** @type {HTMLElement|null} */ (null));
  const shown = useRef(from);
  const tag = languageTag();
  useEffect(() => {
    const start = performance.now();
    const begin = shown.current;
    let frame = 0;
    const step = () => {
      const part = calm.value ? 1 : (performance.now() - start) / ROLL_MS;
      shown.current = interpolate(begin, cents, part);
      if (place.current) place.current.textContent = money(shown.current, tag);
      if (shown.current !== cents) frame = requestAnimationFrame(step);
    };
    step();
    return () => cancelAnimationFrame(frame);
  }, [cents, tag]);
  return html`<span class="money ${classes}" ref=${place} data-test=${test} data-cents=${cents}></span>`;
}
