import { errorText } from './error-text.js';

/** @import {Claim, Player, Room, Round, Tally} from './messages.js' */

/** A refused or failed call. Code is the server's, or 'offline' when there was no answer, or 'unknown'. */
export class ApiError extends Error {
  /** @param {string} code @param {string} [message] @param {string} [field] @param {number} [status] 0: no answer */
  constructor(code, message = '', field = '', status = 0) {
    super(message || code);
    this.code = code;
    this.field = field;
    this.status = status;
  }

  /** The server answered that it does not know who asks, or what for. Asking again would not help. */
  get isRefusal() {
    return [401, 403, 404].includes(this.status);
  }

  /** There was no answer, or one that is about the server's state: the same call may succeed later. */
  get isTemporary() {
    return this.code === 'offline' || this.status === 429 || this.status >= 500;
  }

  /** What to tell people, in the page's language. */
  get text() {
    return errorText(this.code, this.message);
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {AbortSignal} [signal] gives up on it
 * @returns {Promise<any>}
 */
export async function call(method, path, body, signal) {
  const response = await fetch(path, {
    method,
    credentials: 'same-origin',
    cache: 'no-store',
    headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
  }).catch(() => {
    throw new ApiError('offline');
  });
  if (response.status === 204) return null;
  const answer = await response.json().catch(() => null);
  if (response.ok && answer) return answer;
  const { code = 'unknown', message = '', field = '' } = answer?.error ?? {};
  throw new ApiError(code, message, field, response.status);
}

/** @param {unknown} error @returns {ApiError} */
export const asApiError = (error) => (error instanceof ApiError ? error : new ApiError('unknown', String(error)));

const path = encodeURIComponent;

/** @param {string} password @returns {Promise<unknown>} */
export const logIn = (password) => call('POST', '/api/host/session', { password });
export const logOut = () => call('DELETE', '/api/host/session');

/** @param {string} name @returns {Promise<{room: Room}>} */
export const makeRoom = (name) => call('POST', '/api/rooms', { name });
/** Whether this is a host's session: a refusal says that it is not. @returns {Promise<unknown>} */
export const checkHostSession = () => call('GET', '/api/rooms?limit=1');
/** @typedef {Room & {locked: boolean, app_only: boolean}} OpenRoom locked: takes nobody new; app_only: only by the host's own app */
/** @param {string} code @returns {Promise<{room: OpenRoom, round: Round|null}>} */
export const getRoom = (code) => call('GET', `/api/rooms/${path(code)}`);

/** @param {string} code @param {string} nickname @returns {Promise<{player: Player}>} */
export const joinRoom = (code, nickname) => call('POST', `/api/rooms/${path(code)}/players`, { nickname });
/** @param {string} code @returns {Promise<{player: Player}>} */
export const getOwnPlayer = (code) => call('GET', `/api/rooms/${path(code)}/players/me`);

/** @param {string} code @param {object} settings @returns {Promise<{round: Round}>} */
export const makeRound = (code, settings) => call('POST', `/api/rooms/${path(code)}/rounds`, settings);
/** @typedef {{rounds: Round[], next: string}} RoundsPage next: after which round the next page begins; empty: this is the last one */
/** The drafts, and what was begun, the last begun first. After a round, what was begun before it. @param {string} code @param {string} [after] @param {AbortSignal} [signal] @returns {Promise<RoundsPage>} */
export const listRounds = (code, after = '', signal = undefined) => call('GET', `/api/rooms/${path(code)}/rounds${after && `?after=${path(after)}`}`, undefined, signal);
/** @param {object} settings @returns {Promise<{amounts: number[], min: number, max: number, mean: number}>} */
export const previewRound = (settings) => call('POST', '/api/rounds/preview', settings);
/** @param {string} id @param {'start'|'stop'|'cancel'} step @returns {Promise<{round: Round}>} */
export const moveRound = (id, step) => call('POST', `/api/rounds/${path(id)}/${step}`);
/** @param {string} id @param {AbortSignal} [signal] @returns {Promise<{round: Round, tally: Tally}>} */
export const getRound = (id, signal) => call('GET', `/api/rounds/${path(id)}`, undefined, signal);
/** @param {string} id @param {number} after @param {number} limit @param {AbortSignal} [signal] @returns {Promise<{claims: Claim[], next: number}>} */
export const listClaims = (id, after, limit, signal) => call('GET', `/api/rounds/${path(id)}/claims?after=${after}&limit=${limit}`, undefined, signal);

/** @typedef {{round: Round, claimed_packets: number, claimed_cents: number}} PastRound */
/** @typedef {{rank: number, players: number, claims: Claim[]}} OwnResult rank 0: won nothing */

/** What the room has played, the newest first. @param {string} code @returns {Promise<{rounds: PastRound[]}>} */
export const getHistory = (code) => call('GET', `/api/rooms/${path(code)}/history`);
/** @typedef {{title: string, starts_on: number}} NextRound */
/** The round that starts by itself soonest. @param {string} code @returns {Promise<{next: NextRound|null}>} */
export const getNext = (code) => call('GET', `/api/rooms/${path(code)}/next`);
/** What a settled round came to for this player. @param {string} id @returns {Promise<OwnResult>} */
export const getOwnResult = (id) => call('GET', `/api/rounds/${path(id)}/result/me`);

/** @typedef {{rounds: {round: Round, packets: number, cents: number, rank: number}[], balance_cents: number}} OwnRounds rank 0: not settled yet */
/** The rounds in which this player won something, the newest first. @param {string} code @returns {Promise<OwnRounds>} */
export const getOwnRounds = (code) => call('GET', `/api/rooms/${path(code)}/players/me/rounds`);
/** Joins by a token of the host's own app. @param {string} code @param {string} token @returns {Promise<{player: Player}>} */
export const joinByToken = (code, token) => call('POST', `/api/rooms/${path(code)}/players/token`, { token });

/** @typedef {{urls: string[], reachable: boolean}} JoinAddress reachable: phones can open these URLs of the room, the first most likely */
/** @param {string} code @returns {Promise<JoinAddress>} */
export const getJoinAddress = (code) => call('GET', `/api/rooms/${path(code)}/address`);
/** The QR code of one of these URLs. @param {string} code @param {number} at */
export const qrAddress = (code, at) => `/api/rooms/${path(code)}/qr.svg?at=${at}`;
