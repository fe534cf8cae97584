import { FullMessage } from '../shared/full-message.js';
import { t } from '../shared/i18n.js';
import { html, useEffect, useState } from '../shared/view.js';

/** @typedef {typeof import('./check-view.js').CheckView} CheckView */

/**
 * Loads what checks a round only when somebody wants to: most never ask.
 * @param {{round: string, phase: string}} props phase: of that round as far as this page knows, so that it is read anew
 */
export function CheckPage({ round, phase }) {
  const [View, setView] = useState(/** @type {CheckView|null} */ (null));
  const [failed, setFailed] = useState(false);
  const load = () => {
    setFailed(false);
    import('./check-view.js').then((module) => setView(() => module.CheckView), () => setFailed(true));
  };
  useEffect(load, []);
  if (failed) return html`<${FullMessage} text=${t('error.offline')} action=${t('action.retry')} onAction=${load} />`;
  return View ? html`<${View} round=${round} phase=${phase} />` : html`<${FullMessage} text=${t('loading')} />`;
}
