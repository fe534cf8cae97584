import { asApiError, logOut } from '../shared/api.js';
import { FullMessage } from '../shared/full-message.js';
import { fileAddress } from '../shared/file-address.js';
import { t } from '../shared/i18n.js';
import { LanguageSwitch } from '../shared/language-switch.js';
import { html, signal, useEffect } from '../shared/view.js';
import { listRoomSummaries } from './host-api.js';
import { Login } from './login.js';
import { RoomList } from './room-list.js';
import { TABS } from './room-tabs.js';
import { RoomView } from './room-view.js';
import { ThemeSwitch, wearTheme } from './theme.js';

/** @import {ApiError} from '../shared/api.js' */
/** @import {RoomsPage} from './host-api.js' */
/** @import {Tab} from './room-tabs.js' */

/** @typedef {{at: 'loading'} | {at: 'login'} | {at: 'failed', error: ApiError} | {at: 'rooms', first: RoomsPage}} Step */

/** @type {import('../vendor/signals-core.js').Signal<Step>} */
const step = signal({ at: 'loading' });
/** The room shown and its part, as in #/CODE/players; '' for the list. */
const code = signal(codeInHash());
const tab = signal(tabInHash());

async function load() {
  try {
    step.value = { at: 'rooms', first: await listRoomSummaries() };
  } catch (error) {
    const refused = asApiError(error);
    step.value = refused.isRefusal ? { at: 'login' } : { at: 'failed', error: refused };
  }
}

export function HostPage() {
  useEffect(() => {
    void load();
    wearTheme();
    const moved = () => {
      code.value = codeInHash();
      tab.value = tabInHash();
      if (!code.value) void load();
    };
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  const known = step.value.at === 'rooms';
  return html`
    <header class="host-top">
      <a class="host-brand" href="#"><img src=${fileAddress('favicon.svg')} alt="" width="32" height="32" />${t('product')}</a>
      <${ThemeSwitch} />
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
      ? html`<${RoomView} key=${code.value} code=${code.value} tab=${tab.value} loggedOut=${load} />`
      : html`<${RoomList} first=${now.first} enter=${(/** @type {string} */ made) => { location.hash = `#/${made}`; }} />`;
    default: return html`<${FullMessage} text=${t('loading')} />`;
  }
}

async function leave() {
  const error = await logOut().then(() => null, asApiError);
  step.value = error && !error.isRefusal ? { at: 'failed', error } : { at: 'login' };
}

function codeInHash() {
  return (location.hash.split('/')[1] ?? '').toUpperCase();
}

/** @returns {Tab} */
function tabInHash() {
  const named = /** @type {Tab} */ (location.hash.split('/')[2]);
  return TABS.includes(named) ? named : 'rounds';
}
