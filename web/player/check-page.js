import { FullMessage } from '../shared/full-message.js';
import { t } from '../shared/i18n.js';
import { html, useEffect, useState } from '../shared/view.js';

/** @import {Drop} from '../shared/messages.js' */

/** @typedef {typeof import('./check-view.js').CheckView} CheckView */

/**
 * Loads what checks a round only when somebody wants to: most never ask.
 * @param {{round: string, phase: string, drops: Drop[]}} props phase: of that round as far as this page knows, so that it is
 * read anew; drops: those of that round that came to this page
 */
export function CheckPage({ round, phase, drops }) {
  const [View, setView] = useState(/** @type {CheckView|null} */ (null));
  const [failed, setFailed] = useState(false);
  const load = () => {
    setFailed(false);
    import('./check-view.js').then((module) => setView(() => module.CheckView), () => setFailed(true));
  };
  useEffect(load, []);
  if (failed) return html`<${FullMessage} text=${t('error.offline')} action=${t('action.retry')} onAction=${load} />`;
  return View ? html`<${View} round=${round} phase=${phase} drops=${drops} />` : html`<${FullMessage} text=${t('loading')} />`;
}
