import { asApiError, getRoom, joinByToken, getOwnPlayer } from '../shared/api.js';

/** @import {ApiError, OpenRoom} from '../shared/api.js' */

/** The token of the host's own app, until the server has answered it: without an answer it is sent again. */
let token = '';

/**
 * Whether the server knows this player, who may have come by a link of the host's own app. The token goes out of the
 * address at once: nobody shall pass it on with a copied link, or use it again by a reload.
 * @param {string} code
 * @returns {Promise<{known: true}|{known: false, room: OpenRoom}>} refused tokens throw
 */
export async function comeIn(code) {
  token = takeTokenFromAddress() || token;
  if (token) {
    await sendToken(code);
    return { known: true };
  }
  const { room } = await getRoom(code);
  const known = await getOwnPlayer(code).then(() => true, (error) => refusesEntry(asApiError(error)));
  return known ? { known } : { known, room };
}

/** @param {string} code */
async function sendToken(code) {
  try {
    await joinByToken(code, token);
  } catch (error) {
    if (!asApiError(error).isTemporary) token = '';
    throw error;
  }
  token = '';
}

function takeTokenFromAddress() {
  const address = new URL(location.href);
  const found = address.searchParams.get('token') ?? '';
  if (found) {
    address.searchParams.delete('token');
    history.replaceState(history.state, '', address);
  }
  return found;
}

/** Either the server does not know this player, or it failed, or will not have them: other matters. @param {ApiError} error @returns {false} */
function refusesEntry(error) {
  if (!error.isRefusal || error.code === 'blocked') throw error;
  return false;
}
