import { getJoinAddress } from './api.js';
import { useEffect, useState } from './view.js';

/** @import {JoinAddress} from './api.js' */

/**
 * Where players open the room. at is the URL to show: the chosen one, by default that of ?at=.
 * @param {string} code
 * @param {number} [chosen]
 * @returns {JoinAddress & {at: number}}
 */
export function useJoinAddress(code, chosen = Number(new URLSearchParams(location.search).get('at')) || 0) {
  const [address, setAddress] = useState({ urls: [`${location.origin}/r/${code}`], reachable: true });
  useEffect(() => {
    getJoinAddress(code).then(setAddress, () => {});
  }, [code]);
  return { ...address, at: Math.max(0, Math.min(chosen, address.urls.length - 1)) };
}
