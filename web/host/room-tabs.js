import { t } from '../shared/i18n.js';
import { html } from '../shared/view.js';

/** @typedef {'rounds'|'players'|'books'|'rehearsals'} Tab */

/** @type {Tab[]} */
export const TABS = ['rounds', 'players', 'books', 'rehearsals'];

/** Where a tab is: addresses survive a reload and can be sent. @param {string} code @param {Tab} tab */
export const tabAddress = (code, tab) => (tab === 'rounds' ? `#/${code}` : `#/${code}/${tab}`);

/** @param {{code: string, tab: Tab}} props */
export function RoomTabs({ code, tab }) {
  return html`<nav class="tabs" aria-label=${t('tabs.label')}>
    ${TABS.map((name) => html`<a key=${name} class="tab" href=${tabAddress(code, name)} aria-current=${name === tab ? 'page' : undefined} data-test="tab-${name}">${t(`tab.${name}`)}</a>`)}
  </nav>`;
}
