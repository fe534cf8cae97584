import { asApiError, listRooms, logOut } from '../shared/api.js';
import { FullMessage } from '../shared/full-message.js';
import { t } from '../shared/i18n.js';
import { LanguageSwitch } from '../shared/language-switch.js';
import { html, signal, useEffect } from '../shared/view.js';
import { Login } from './login.js';
import { RoomList } from './room-list.js';
import { RoomView } from './room-view.js';

/** @import {ApiError} from '../shared/api.js' */
/** @import {Room} from '../shared/messages.js' */

/** @typedef {{at: 'loading'} | {at: 'login'} | {at: 'failed', error: ApiError} | {at: 'rooms', rooms: Room[]}} Step */

/** @type {import('../vendor/signals-core.js').Signal<Step>} */
const step = signal({ at: 'loading' });
/** The room shown, as in #/CODE; '' for the list. */
const code = signal(codeInHash());

async function load() {
  try {
    step.value = { at: 'rooms', rooms: (await listRooms()).rooms };
  } catch (error) {
    const refused = asApiError(error);
    step.value = refused.isRefusal ? { at: 'login' } : { at: 'failed', error: refused };
  }
}

export function HostPage() {
  useEffect(() => {
    void load();
    const moved = () => {
      code.value = codeInHash();
      if (!code.value) void load();
    };
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  const known = step.value.at === 'rooms';
  return html`
    <header class="host-top">
      <a class="host-brand" href="#"><img src="/assets/shared/favicon.svg" alt="" width="32" height="32" />${t('product')}</a>
      <${LanguageSwitch} />
      ${known && html`<button type="button" class="quiet-button" data-test="logout" onClick=${leave}>${t('action.logout')}</button>`}
    </header>
    <${Body} />`;
}

function Body() {
  const now = step.value;
  switch (now.at) {
    case 'login': return html`<${Login} done=${load} />`;
    case 'failed': return html`<${FullMessage} text=${now.error.text} action=${t('action.retry')} onAction=${load} />`;
    case 'rooms': return code.value
      ? html`<${RoomView} key=${code.value} code=${code.value} loggedOut=${load} />`
      : html`<${RoomList} rooms=${now.rooms} enter=${(/** @type {string} */ made) => { location.hash = `#/${made}`; }} />`;
    default: return html`<${FullMessage} text=${t('loading')} />`;
  }
}

async function leave() {
  await logOut().catch(() => {});
  step.value = { at: 'login' };
}

function codeInHash() {
  return location.hash.replace(/^#\/?/, '').toUpperCase();
}
