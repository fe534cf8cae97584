import { asApiError, previewRound } from '../shared/api.js';
import { languageTag, t } from '../shared/i18n.js';
import { Money } from '../shared/money-text.js';
import { html, useEffect, useState } from '../shared/view.js';
import { PacketDuration } from './packet-duration.js';
import { histogram } from './settings.js';

/** @import {ApiError} from '../shared/api.js' */

/** @typedef {{amounts: number[], min: number, max: number, mean: number}} Amounts */

const TYPING_PAUSE_MS = 300;
const BARS = 24;
const WIDTH = 240;
const HEIGHT = 96;

/**
 * What the settings result in: example amounts, how long the packets last, the cost.
 * @param {{settings: Record<string, any>, ready: boolean, online: number, refuse: (error: ApiError|null) => void}} props
 */
export function Preview({ settings, ready, online, refuse }) {
  const [amounts, setAmounts] = useState(/** @type {Amounts|null} */ (null));
  const asked = JSON.stringify(settings);
  useEffect(() => {
    if (!ready) return undefined;
    let current = true;
    const timer = setTimeout(async () => {
      const answer = await previewRound(JSON.parse(asked)).catch(asApiError);
      if (!current) return;
      setAmounts('amounts' in answer ? answer : null);
      refuse('amounts' in answer ? null : answer);
    }, TYPING_PAUSE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [asked, ready]);
  const shown = ready && amounts;
  return html`<aside class="preview" data-test="preview" data-ready=${Boolean(shown)} data-min=${amounts?.min} data-max=${amounts?.max}>
    <h3>${t('preview.title')}</h3>
    ${shown ? html`<${Chart} amounts=${amounts} /><${Meaning} settings=${settings} /><${PacketDuration} settings=${settings} online=${online} />` : html`<p class="empty preview-empty">${t('preview.empty')}</p>`}
  </aside>`;
}

/** @param {{amounts: Amounts}} props */
function Chart({ amounts: { amounts, min, max, mean } }) {
  const bars = histogram(amounts, BARS);
  const highest = Math.max(...bars);
  const step = WIDTH / Math.max(bars.length, 8);
  const left = (WIDTH - step * bars.length) / 2;
  return html`<figure>
    <svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${t('preview.chart')}>
      ${bars.map((count, at) => {
        const height = count > 0 ? Math.max((count / highest) * (HEIGHT - 4), 3) : 0;
        return html`<rect key=${at} x=${left + at * step + step * 0.1} y=${HEIGHT - height} width=${step * 0.8} height=${height} rx="2" />`;
      })}
      <line x1="0" y1=${HEIGHT} x2=${WIDTH} y2=${HEIGHT} />
    </svg>
    <figcaption class="chart-range">
      <span>${t('preview.min')}<${Money} cents=${min} test="preview-min" /></span>
      <span>${t('preview.mean')}<${Money} cents=${Math.round(mean)} test="preview-mean" /></span>
      <span>${t('preview.max')}<${Money} cents=${max} test="preview-max" /></span>
    </figcaption>
  </figure>`;
}

/** @param {{settings: Record<string, any>}} props */
function Meaning({ settings }) {
  const { packets, cap, duration_ms: duration, drops_per_second: drops, bomb_percent: bombs } = settings;
  const falling = Math.floor((duration / 1000) * drops);
  return html`<ul class="meaning">
    <li>${t('preview.cost')} <strong><${Money} cents=${settings.total_cents} /></strong>${t('preview.refund')}</li>
    <li>${pace(settings)}</li>
    <li>${t('preview.players', { n: Math.ceil(packets / Math.max(cap, 1)) })}</li>
    <li>${t('preview.falling', { drops: falling, bombs: Math.round((falling * bombs) / 100) })}</li>
  </ul>`;
}

/** How long the packets last. @param {Record<string, any>} settings */
function pace({ pace: chosen, packets, duration_ms: duration }) {
  if (chosen === 'burst') return t('preview.burst');
  const released = (duration * 0.9) / 1000;
  const until = fraction(released);
  const every = released / packets;
  return every >= 1 ? t('preview.even_slow', { every: fraction(every), until }) : t('preview.even_fast', { rate: fraction(1 / every), until });
}

/** @param {number} value */
const fraction = (value) => value.toLocaleString(languageTag(), { maximumFractionDigits: 1 });
