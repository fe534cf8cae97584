/** @import {Drop} from '../shared/messages.js' */

/** @typedef {Drop & {x: number, y: number, width: number, height: number}} ReachableDrop centre and size in CSS px of the viewport */

/**
 * Read-only hooks for tests and measurements, while it rains:
 * window.redrain.drops() lists the drops that a touch of their centre would tap right now;
 * window.redrain.frameWork() lists the milliseconds of work in each of the latest frames, the newest last (none in calm mode,
 * which draws no frames).
 * @param {{drops: () => ReachableDrop[], frameWork?: () => number[]}} tools
 */
export function exposeTestHooks({ drops, frameWork = () => [] }) {
  Object.assign(window, { redrain: Object.freeze({ drops, frameWork }) });
}
