import { asApiError, getRoom, joinByToken, getOwnPlayer } from '../shared/api.js';

/** @import {ApiError, OpenRoom} from '../shared/api.js' */

/**
 * Whether the server knows this player, who may have come by a link of the host's own app. The token goes out of the
 * address at once: nobody shall pass it on with a copied link, or use it again by a reload.
 * @param {string} code
 * @returns {Promise<{known: true}|{known: false, room: OpenRoom}>} refused tokens throw
 */
export async function comeIn(code) {
  const token = tokenInAddress();
  if (token) {
    await joinByToken(code, token);
    return { known: true };
  }
  const { room } = await getRoom(code);
  const known = await getOwnPlayer(code).then(() => true, (error) => refusesEntry(asApiError(error)));
  return known ? { known } : { known, room };
}

function tokenInAddress() {
  const address = new URL(location.href);
  const token = address.searchParams.get('token') ?? '';
  if (token) {
    address.searchParams.delete('token');
    history.replaceState(history.state, '', address);
  }
  return token;
}

/** Either the server does not know this player, or it failed, or will not have them: other matters. @param {ApiError} error @returns {false} */
function refusesEntry(error) {
  if (!error.isRefusal || error.code === 'blocked') throw error;
  return false;
}
