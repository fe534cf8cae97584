import { asApiError, getOwnResult, getRound } from '../shared/api.js';
import { FullMessage } from '../shared/full-message.js';
import { t } from '../shared/i18n.js';
import { html, useEffect, useState } from '../shared/view.js';
import { check } from './check-work.js';
import { Amounts } from './amounts.js';
import { Findings } from './findings.js';

/** @import {ApiError} from '../shared/api.js' */
/** @import {Claim, Round} from '../shared/messages.js' */
/** @import {Findings as Found} from './check-work.js' */

/** @typedef {{at: 'loading'}|{at: 'failed', error: ApiError}|{at: 'sealed', round: Round}|{at: 'counting', part: number}|{at: 'done', round: Round, claims: Claim[], found: Found}} Step */

/** A page that is not in the room hears of no phase. */
const LOOK_AGAIN_MS = 5000;

/**
 * Recomputes a round's amounts in front of everybody's eyes.
 * @param {{round: string, phase: string}} props
 */
export function CheckView({ round: id, phase }) {
  const [step, setStep] = useState(/** @type {Step} */ ({ at: 'loading' }));
  const load = () => {
    let gone = false;
    const show = (/** @type {Step} */ next) => { if (!gone) setStep(next); };
    work(id, show).catch((error) => show({ at: 'failed', error: asApiError(error) }));
    return () => { gone = true; };
  };
  useEffect(load, [id, phase]);
  useEffect(() => {
    if (step.at !== 'sealed') return undefined;
    const timer = setTimeout(load, LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [step]);
  return html`<main class="check" data-test="check-page" data-step=${step.at}>
    <a class="button button-plain" data-test="check-back" href="#">${t('fair.back')}</a>
    <h1 class="check-title">${t('fair.title')}</h1>
    <${Shown} step=${step} again=${load} />
  </main>`;
}

/** @param {string} id @param {(step: Step) => void} show */
async function work(id, show) {
  const { round } = await getRound(id);
  if (round.secret === '') return show({ at: 'sealed', round });
  const claims = await getOwnResult(id).then((own) => own.claims, () => []); // a stranger may check too
  const found = await check(round, claims, (part) => show({ at: 'counting', part }));
  return show({ at: 'done', round, claims, found });
}

/** @param {{step: Step, again: () => void}} props */
function Shown({ step, again }) {
  switch (step.at) {
    case 'failed': return html`<${FullMessage} text=${step.error.text} action=${t('action.retry')} onAction=${again} />`;
    case 'sealed': return html`<section class="card check-card"><p>${t('fair.sealed')}</p><${Hash} label=${t('fair.commitment')} text=${step.round.commitment} /></section>`;
    case 'done': return html`<${Findings} round=${step.round} claims=${step.claims} found=${step.found} /><${Amounts} amounts=${step.found.amounts} claims=${step.claims} />`;
    case 'counting': return html`<p class="empty" role="status">${t('fair.counting')}</p><progress class="check-progress" max="1" value=${step.part} aria-label=${t('fair.counting')}></progress>`;
    default: return html`<p class="empty" role="status">${t('loading')}</p>`;
  }
}

/** @param {{label: string, text: string}} props */
const Hash = ({ label, text }) => text && html`<p class="check-hash"><span class="check-label">${label}</span><code>${text}</code></p>`;
