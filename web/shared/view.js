/** The view library of all pages, bound in one place: templates by htm, elements by preact, state by signals. */
import { Fragment, h, render } from '../vendor/preact.js';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from '../vendor/preact-hooks.js';
import { batch, computed, effect, signal, useComputed, useSignal, useSignalEffect } from '../vendor/signals.js';
import htm from '../vendor/htm.js';

export { Fragment, h, render };
export { useEffect, useLayoutEffect, useMemo, useRef, useState };
export { batch, computed, effect, signal, useComputed, useSignal, useSignalEffect };

/** @type {(strings: TemplateStringsArray, ...values: unknown[]) => any} */
export const html = htm.bind(h);
