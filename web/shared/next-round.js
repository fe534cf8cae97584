import { getNext } from './api.js';
import { languageTag, t } from './i18n.js';
import { html, useEffect, useState } from './view.js';

/** @import {NextRound as Next} from './api.js' */
/** @import {Live} from './live-room.js' */

/** Each page reads at a random interval in this range, to spread the load. */
const SHORTEST_MS = 40_000;
const LONGEST_MS = 80_000;
/** Below this the remaining minutes are shown instead of the time of day. */
const SOON_MINUTES = 60;

/**
 * When the next round starts by itself, if one does.
 * @param {{live: Live, code: string}} props
 */
export function NextRound({ live, code }) {
  const next = useNext(code, live.store.round.value?.id ?? '');
  if (!next) return null;
  const minutes = Math.ceil((next.starts_on - live.store.moment.value) / 60_000);
  if (!(minutes > 0)) return null; // also while the clock is unknown
  return html`<p class="next-round" data-test="next-round" data-at=${next.starts_on}>
    ${next.title && html`<bdi>${next.title}</bdi> `}${minutes <= SOON_MINUTES ? t('next.in', { n: minutes }) : t('next.at', { time: timeOf(next.starts_on) })}
  </p>`;
}

/** @param {number} moment */
const timeOf = (moment) => new Intl.DateTimeFormat(languageTag(), { hour: '2-digit', minute: '2-digit' }).format(moment);

/** @param {string} code @param {string} round the one shown: when it changes, another is the next */
function useNext(code, round) {
  const [next, setNext] = useState(/** @type {Next|null} */ (null));
  useEffect(() => {
    let gone = false;
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    let timer;
    const ask = async () => {
      const answer = await getNext(code).catch(() => null);
      if (gone) return;
      if (answer) setNext(answer.next);
      timer = setTimeout(ask, SHORTEST_MS + Math.random() * (LONGEST_MS - SHORTEST_MS));
    };
    void ask();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [code, round]);
  return next;
}
