import { asApiError, getOwnResult, getRound } from '../shared/api.js';
import { isKnown } from '../shared/fairness.js';
import { FullMessage } from '../shared/full-message.js';
import { t } from '../shared/i18n.js';
import { html, useEffect, useState } from '../shared/view.js';
import { check } from './check-round.js';
import { Amounts } from './amount-list.js';
import { Findings } from './check-findings.js';

/** @import {ApiError} from '../shared/api.js' */
/** @import {Claim, Drop, Round} from '../shared/messages.js' */
/** @import {Findings as Found} from './check-round.js' */

/** @typedef {{at: 'loading'}|{at: 'failed', error: ApiError}|{at: 'sealed', round: Round}|{at: 'unknown'}|{at: 'counting', part: number}|{at: 'done', round: Round, claims: Claim[], drops: Drop[], found: Found}} Step */

/** A page that is not in the room hears of no phase. */
const LOOK_AGAIN_MS = 5000;

/**
 * Recomputes a round's amounts and drops in front of everybody's eyes.
 * @param {{round: string, phase: string, drops: Drop[]}} props
 */
export function CheckView({ round: id, phase, drops }) {
  const [step, setStep] = useState(/** @type {Step} */ ({ at: 'loading' }));
  const load = () => {
    let gone = false;
    const show = (/** @type {Step} */ next) => { if (!gone) setStep(next); };
    work(id, drops, show).catch((error) => show({ at: 'failed', error: asApiError(error) }));
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

/** @param {string} id @param {Drop[]} drops @param {(step: Step) => void} show */
async function work(id, drops, show) {
  const { round } = await getRound(id);
  if (round.secret === '') return show({ at: 'sealed', round });
  if (!isKnown(round)) return show({ at: 'unknown' });
  const claims = await getOwnResult(id).then((own) => own.claims, () => []); // a stranger may check too
  const found = await check(round, claims, drops, (part) => show({ at: 'counting', part }));
  return show({ at: 'done', round, claims, drops, found });
}

/** @param {{step: Step, again: () => void}} props */
function Shown({ step, again }) {
  switch (step.at) {
    case 'failed': return html`<${FullMessage} text=${step.error.text} action=${t('action.retry')} onAction=${again} />`;
    case 'sealed': return html`<section class="card check-card"><p>${t('fair.sealed')}</p><${Hash} label=${t('fair.commitment')} text=${step.round.commitment} /></section>`;
    case 'done': return html`<${Findings} round=${step.round} claims=${step.claims} drops=${step.drops} found=${step.found} /><${Amounts} amounts=${step.found.amounts} claims=${step.claims} />`;
    case 'unknown': return html`<p class="empty" role="status">${t('error.bad_frame')}</p>`;
    case 'counting': return html`<p class="empty" role="status">${t('fair.counting')}</p><progress class="check-progress" max="1" value=${step.part} aria-label=${t('fair.counting')}></progress>`;
    default: return html`<p class="empty" role="status">${t('loading')}</p>`;
  }
}

/** @param {{label: string, text: string}} props */
const Hash = ({ label, text }) => text && html`<p class="check-hash"><span class="check-label">${label}</span><code>${text}</code></p>`;
