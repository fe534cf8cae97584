/** The calls of the HTTP API that only hosts make. */
import { call } from '../shared/api.js';

/** @import {Room, Round} from '../shared/messages.js' */

/** @typedef {Room & {locked: boolean, app_only: boolean}} RoomDetail */
/** @typedef {RoomDetail & {players: number, drafts: number, played: number, given_cents: number, active: string}} RoomSummary */
/** @typedef {{id: string, nickname: string, joined_at: number, blocked: boolean, own: boolean}} Guest */
/** @typedef {{name: string, ok: boolean, ms: number, reason: string, problem: string}} HealthCheck */

/**
 * What the bots of a rehearsal measured; times are in microseconds.
 * @typedef {object} Report
 * @property {number} players
 * @property {number} taps
 * @property {number} taps_per_second
 * @property {Record<string, number>} outcomes
 * @property {{p50: number, p99: number}} latency_us
 * @property {boolean} conserved
 * @property {string[]} [violations]
 */

/**
 * @typedef {object} Rehearsal
 * @property {string} round on the stage
 * @property {number} players
 * @property {number} taps_per_second of each player
 * @property {'running'|'done'|'failed'} state
 * @property {string} problem
 * @property {number} begun_at
 * @property {Report|null} report
 */

/**
 * @typedef {object} Reconciliation
 * @property {boolean} frozen
 * @property {boolean} agrees
 * @property {boolean} in_flight
 * @property {number} budget_cents
 * @property {{claims: number, claimed_cents: number, rest_cents: number, refunded_cents: number}|null} redis
 * @property {{claims: number, claimed_cents: number, escrow_cents: number, refunded_cents: number, quarantined: number, dead_letters: number}} ledger
 * @property {{what: string, expected: number, found: number}[]} differences
 */

/** @typedef {{budget_cents: number, claims: number, claimed_cents: number, refunded_cents: number, held_cents: number, paid_out_cents: number}} BooksSum */
/** @typedef {{round: string, title: string, phase: import('../shared/messages.js').Phase, reason: string, frozen: boolean, books: BooksSum}} RoundBooks */
/** @typedef {{rounds: RoundBooks[], next: string, sum: BooksSum, balance_cents: number}} RoomBooks sum: of all rounds, not only of this page's */

/** @typedef {{id: string, number: number, claims: number, cents: number, state: 'pending'|'paid'|'failed', attempts: number, problem: string, due_at: number, paid_at: number}} Payout */
/** @typedef {{claims: number, cents: number}} PayoutSum */
/** @typedef {{payouts: Payout[], next: number, sums: {planned: boolean, pending: PayoutSum, paid: PayoutSum, failed: PayoutSum}}} PayoutsPage */

const path = encodeURIComponent;
/** @param {string} code */
const room = (code) => `/api/rooms/${path(code)}`;
/** @param {string} id */
const round = (id) => `/api/rounds/${path(id)}`;

/** @typedef {{rooms: RoomSummary[], next: string}} RoomsPage next: after which room the next page begins; empty: this is the last one */
/** The newest rooms, or those before one. @param {string} [after] @returns {Promise<RoomsPage>} */
export const listRoomSummaries = (after = '') => call('GET', `/api/rooms${after && `?after=${path(after)}`}`);
/** @param {string} code @param {AbortSignal} [signal] @returns {Promise<{room: RoomDetail}>} */
export const getDoors = (code, signal) => call('GET', room(code), undefined, signal);
/** @param {string} code @param {{locked: boolean, app_only: boolean}} doors @returns {Promise<{room: RoomDetail}>} */
export const setAccess = (code, doors) => call('POST', `${room(code)}/doors`, doors);
/** @param {string} code @param {string} text @returns {Promise<null>} */
export const announce = (code, text) => call('POST', `${room(code)}/announcements`, { text });
/** @param {AbortSignal} [signal] @returns {Promise<{checks: HealthCheck[]}>} */
export const getHealth = (signal) => call('GET', '/api/host/health', undefined, signal);

/** @typedef {{limit: number, name: string, before?: string, after?: string}} GuestQuery see the API's description */
/** @typedef {{players: Guest[], total: number, most: number, next: string, latest: string, anew: boolean}} GuestsPage */
/** @param {string} code @param {GuestQuery} query @param {AbortSignal} signal @returns {Promise<GuestsPage>} */
export const listPlayers = (code, query, signal) =>
  call('GET', `${room(code)}/players?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))}`, undefined, signal);
/** @param {string} code @param {string} id @param {string} nickname @returns {Promise<{player: Guest}>} */
export const renamePlayer = (code, id, nickname) => call('POST', `${room(code)}/players/${path(id)}/rename`, { nickname });
/** @param {string} code @param {string} id @param {boolean} blocked @returns {Promise<{player: Guest}>} */
export const blockPlayer = (code, id, blocked) => call('POST', `${room(code)}/players/${path(id)}/${blocked ? 'block' : 'unblock'}`);

/** @param {string} code @param {string[]} ids @returns {Promise<{rounds: Round[]}>} */
export const orderDrafts = (code, ids) => call('POST', `${room(code)}/plan`, { rounds: ids });
/** @param {string} id @param {number} startsOn ms since 1970; 0: by hand @returns {Promise<{round: Round}>} */
export const planStart = (id, startsOn) => call('POST', `${round(id)}/plan`, { starts_on: startsOn });
/** @param {string} id @param {object} settings @returns {Promise<{round: Round}>} */
export const changeDraft = (id, settings) => call('POST', `${round(id)}/settings`, settings);
/** @param {string} id @returns {Promise<null>} */
export const dropDraft = (id) => call('DELETE', round(id));
/** @param {string} code */
export const exportAddress = (code) => `${room(code)}/rounds/export`;
/** @param {string} code @param {unknown} file @returns {Promise<{rounds: Round[]}>} */
export const importRounds = (code, file) => call('POST', `${room(code)}/rounds/import`, file);

/** @param {string} code @param {AbortSignal} [signal] @returns {Promise<{rehearsals: Rehearsal[]}>} */
export const listRehearsals = (code, signal) => call('GET', `${room(code)}/rehearsals`, undefined, signal);
/** @param {string} code @param {{round: string, players: number, taps_per_second: number}} wish @returns {Promise<{rehearsal: Rehearsal}>} */
export const rehearse = (code, wish) => call('POST', `${room(code)}/rehearsals`, wish);

/** @param {string} id @param {AbortSignal} [signal] @returns {Promise<{reconciliation: Reconciliation}>} */
export const getBooks = (id, signal) => call('GET', `${round(id)}/reconciliation`, undefined, signal);
/** The claims of a round as a file. @param {string} id */
export const claimsFile = (id, type = 'csv') => `${round(id)}/claims.${type}`;
/** Every movement of the host's account as a file. @param {string} code */
export const statementFile = (code, type = 'csv') => `${room(code)}/statement.${type}`;
/** The books of the rounds begun last, or of those before one. @param {string} code @param {string} [after] @param {AbortSignal} [signal] @returns {Promise<RoomBooks>} */
export const getRoomBooks = (code, after = '', signal = undefined) => call('GET', `${room(code)}/books${after && `?after=${path(after)}`}`, undefined, signal);
/** @param {string} id @param {number} after @param {AbortSignal} [signal] @returns {Promise<PayoutsPage>} */
export const listPayouts = (id, after, signal) => call('GET', `${round(id)}/payouts?after=${after}&limit=50`, undefined, signal);
/** Sends again what is not paid yet. @param {string} id @returns {Promise<{payouts: number}>} */
export const resendPayouts = (id) => call('POST', `${round(id)}/payouts/resend`);
/** Books again what could not be booked. @param {string} id @returns {Promise<{dead_letters: number, claims: number}>} */
export const replayFailed = (id) => call('POST', `${round(id)}/drive`);
/** @param {string} id @param {'freeze'|'release'} step @returns {Promise<{round: Round}>} */
export const holdRound = (id, step) => call('POST', `${round(id)}/${step}`);
