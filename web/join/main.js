/**
 * The page / : into a room by its code.
 *
 * data-test: code, nickname, join, error-code, error-nickname, error (a sentence when the join was refused), language.
 */
import { fileAddress } from '../shared/file-address.js';
import { t } from '../shared/i18n.js';
import { LanguageSwitch } from '../shared/language-switch.js';
import { showPhase, startPage } from '../shared/start-page.js';
import { html } from '../shared/view.js';
import { JoinForm } from './join-form.js';

function JoinPage() {
  return html`
    <header class="join-top"><${LanguageSwitch} /></header>
    <main class="join">
      <img class="join-packet" src=${fileAddress('packet.svg')} alt="" width="120" height="161" />
      <h1 class="join-title">${t('join.title')}</h1>
      <p class="join-lead">${t('join.lead')}</p>
      <${JoinForm} />
      <a class="join-host" href="/host">${t('join.to_host')}</a>
    </main>`;
}

showPhase('join');
startPage(JoinPage, () => '');
