import { CalmSwitch } from '../shared/calm-switch.js';
import { t } from '../shared/i18n.js';
import { IconButton } from '../shared/icon-button.js';
import { LanguageSwitch } from '../shared/language-switch.js';
import { html, useEffect, useState } from '../shared/view.js';

const SHOWN_MS = 3000;

/** The controls of the screen. They are hidden, like the pointer, until the pointer moves. */
export function Controls() {
  useEffect(hideWhenStill, []);
  return html`<div class="screen-controls"><${FullScreenButton} /><${CalmSwitch} /><${LanguageSwitch} /></div>`;
}

/** The button, and the key F. A browser that cannot fill the screen has neither. */
function FullScreenButton() {
  const [full, setFull] = useState(document.fullscreenElement !== null);
  useEffect(() => {
    const changed = () => setFull(document.fullscreenElement !== null);
    const pressed = (/** @type {KeyboardEvent} */ event) => {
      if (event.key.toLowerCase() === 'f' && !event.ctrlKey && !event.metaKey && !event.altKey) toggle();
    };
    document.addEventListener('fullscreenchange', changed);
    document.addEventListener('keydown', pressed);
    return () => {
      document.removeEventListener('fullscreenchange', changed);
      document.removeEventListener('keydown', pressed);
    };
  }, []);
  if (!document.fullscreenEnabled) return null;
  return html`<${IconButton} icon=${full ? 'full-off' : 'full-on'} label=${t('switch.full')} pressed=${full} test="full-screen" onClick=${toggle} />`;
}

function toggle() {
  const change = document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen();
  change.catch(() => undefined); // refused, as within a frame
}

/** @returns {() => void} stops it */
function hideWhenStill() {
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;
  const moved = () => {
    clearTimeout(timer);
    delete document.body.dataset.still;
    timer = setTimeout(() => { document.body.dataset.still = ''; }, SHOWN_MS);
  };
  const signs = ['pointermove', 'pointerdown', 'keydown'];
  signs.forEach((type) => document.addEventListener(type, moved));
  moved();
  return () => {
    clearTimeout(timer);
    signs.forEach((type) => document.removeEventListener(type, moved));
  };
}
