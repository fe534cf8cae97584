import { getOwnResult } from '../shared/api.js';
import { useEffect, useState } from '../shared/view.js';

/** @import {OwnResult} from '../shared/api.js' */
/** @import {Round} from '../shared/messages.js' */

/** A whole hall hears at one moment that a round is settled: they ask within this span, not all at once. */
const WITHIN_MS = 2500;

/**
 * What the books say of this player in a round, once it is settled; null until then, and when the server does not say.
 * @param {Round|null} round
 * @param {boolean} wanted
 */
export function useOwnResult(round, wanted) {
  const [result, setResult] = useState(/** @type {OwnResult|null} */ (null));
  const id = round?.id ?? '';
  const settled = round?.phase === 'settled';
  useEffect(() => {
    setResult(null);
    if (!settled || !wanted) return undefined;
    let gone = false;
    const timer = setTimeout(() => getOwnResult(id).then((answer) => { if (!gone) setResult(answer); }, () => undefined), Math.random() * WITHIN_MS);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [id, settled, wanted]);
  return result;
}
