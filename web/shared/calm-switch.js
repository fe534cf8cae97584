import { calm, setCalm } from './calm-mode.js';
import { t } from './i18n.js';
import { IconButton } from './icon-button.js';
import { html } from './view.js';

/** Switches between the rain and calm mode. */
export const CalmSwitch = () => html`<${IconButton} icon=${calm.value ? 'calm-on' : 'calm-off'} label=${t('switch.calm')} pressed=${calm.value} test="calm"
  onClick=${() => setCalm(!calm.value)} />`;
