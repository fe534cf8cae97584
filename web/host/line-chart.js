import { html, signal, useEffect, useRef } from '../shared/view.js';
import { theme } from './theme.js';

/** @typedef {typeof import('../vendor/uplot.js').default} Library */

/** What draws is loaded with the first chart, as most hosts' pages show none yet. @type {import('../vendor/signals-core.js').Signal<Library|null>} */
const library = signal(null);

/** Without the library the figure above a chart stays; the next chart tries again. */
const loadLibrary = () => import('../vendor/uplot.js').then((module) => { library.value = module.default; }, () => {});

/** @typedef {{title: string, now: string, upTo: number|undefined, times: number[], values: number[], colour: string, label: (value: number) => string}} Line */

const HEIGHT = 120;
const LEAST_SECONDS = 10;

/**
 * One line over time, from 0 up. It follows the width of its place and the theme. The lists grow in place: upTo, the last
 * moment in them, tells that there is more to draw.
 * @param {Line & {test: string}} props colour: the name of a custom property
 */
export function LineChart({ title, now, upTo, times, values, colour, label, test }) {
  const place = useRef(/** @type {HTMLDivElement|null} */ (null));
  const chart = useRef(/** @type {InstanceType<Library>|null} */ (null));
  const UPlot = library.value;
  useEffect(() => {
    const element = /** @type {HTMLDivElement} */ (place.current);
    if (!UPlot) {
      void loadLibrary();
      return;
    }
    const made = new UPlot(options(element, colour, label), [[], []], element);
    chart.current = made;
    const watcher = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      made.destroy();
      chart.current = null;
    };
  }, [UPlot, theme.value]);
  useEffect(() => chart.current?.setData([times.slice(), values.slice()]), [UPlot, upTo, theme.value]);
  return html`<figure class="line-chart" data-test=${test} data-points=${times.length}>
    <figcaption><span>${title}</span><strong>${now}</strong></figcaption>
    <div class="line-chart-place" ref=${place}></div>
  </figure>`;
}

/** @param {HTMLElement} place @param {string} colour @param {(value: number) => string} label */
function options(place, colour, label) {
  const style = getComputedStyle(place);
  const line = style.getPropertyValue(colour).trim();
  const soft = style.getPropertyValue('--text-soft').trim();
  const axis = { stroke: soft, font: '11px system-ui', ticks: { show: false }, grid: { stroke: style.getPropertyValue('--line').trim(), width: 1 } };
  return {
    width: place.clientWidth, height: HEIGHT,
    legend: { show: false }, cursor: { show: false },
    scales: { x: { time: false, range: atLeast }, y: { range: fromZero } },
    series: [{}, { stroke: line, fill: `${line}22`, width: 2, points: { show: false } }],
    axes: [
      { ...axis, size: 22, space: 60, values: (/** @type {unknown} */ _, /** @type {number[]} */ at) => at.map(clock) },
      { ...axis, size: 56, space: 32, values: (/** @type {unknown} */ _, /** @type {number[]} */ at) => at.map(label) },
    ],
  };
}

/** @param {unknown} _ @param {number|null} __ @param {number|null} most @returns {[number, number]} */
const fromZero = (_, __, most) => [0, Math.max(5, (most ?? 0) * 1.1)];

/** A line that has just begun is not stretched over the whole width. @param {unknown} _ @param {number|null} from @param {number|null} to @returns {[number, number]} */
const atLeast = (_, from, to) => [from ?? 0, Math.max(to ?? 0, (from ?? 0) + LEAST_SECONDS)];

/** @param {number} seconds */
const clock = (seconds) => {
  const at = new Date(seconds * 1000);
  return [at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
};
