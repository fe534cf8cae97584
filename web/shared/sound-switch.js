import { t } from './i18n.js';
import { IconButton } from './icon-button.js';
import { setSound, sound } from './sound-effects.js';
import { html } from './view.js';

/** Switches sound and vibration. */
export const SoundSwitch = () => html`<${IconButton} icon=${sound.value ? 'sound-on' : 'sound-off'} label=${t('switch.sound')} pressed=${sound.value} test="sound"
  onClick=${() => setSound(!sound.value)} />`;
