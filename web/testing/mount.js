import { h, render } from '../vendor/preact.js';

/**
 * Calls a hook as a component would, without a browser. Timers must be faked, see fakeTime. For tests only.
 * @template T
 * @param {() => T} hook
 * @returns {{now: () => T, end: () => void}} now: what the hook returned last
 */
export function mount(hook) {
  /** @type {T|undefined} */
  let last;
  const Probe = () => {
    last = hook();
    return null;
  };
  const place = /** @type {any} */ ({ childNodes: [], namespaceURI: 'http://www.w3.org/1999/xhtml' });
  render(h(Probe, null), place);
  return { now: () => /** @type {T} */ (last), end: () => render(null, place) };
}
