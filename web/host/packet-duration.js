import { languageTag, t } from '../shared/i18n.js';
import { parseUnits } from '../shared/money.js';
import { html, useState } from '../shared/view.js';
import { lasting } from './settings.js';

const USUAL = 50;

/**
 * How long the packets last for a number of players, by default those online.
 * @param {{settings: Record<string, any>, online: number}} props
 */
export function PacketDuration({ settings, online }) {
  const [typed, setTyped] = useState(String(online || USUAL));
  const players = parseUnits(typed, 0);
  const { taken, seconds } = lasting(settings, players ?? 0);
  const left = settings.packets - taken;
  return html`<div class="lasting">
    <label class="lasting-players"><span>${t('lasting.with')}</span>
      <input class="input" inputmode="numeric" autocomplete="off" maxlength="7" data-test="lasting-players" value=${typed} aria-invalid=${players === null}
        onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ event) => setTyped(event.currentTarget.value)} /><span>${t('lasting.players')}</span></label>
    <p data-test="lasting" role="status">${players === null || players === 0 ? t('error.not_a_number')
      : left > 0 ? t('lasting.left', { n: left }) : t('lasting.gone', { seconds: seconds.toLocaleString(languageTag(), { maximumFractionDigits: 1 }) })}</p>
  </div>`;
}
