import { CalmSwitch } from '../shared/calm-switch.js';
import { LanguageSwitch } from '../shared/language-switch.js';
import { SoundSwitch } from '../shared/sound-switch.js';
import { html } from '../shared/view.js';

/** How a player wants the page to be. */
export const Switches = () => html`<span class="switches"><${SoundSwitch} /><${CalmSwitch} /><${LanguageSwitch} /></span>`;
