/**
 * The messages of the WebSocket protocol and the JSON forms of the HTTP API, as types. Money is in cents, moments are
 * milliseconds since 1970 by the server's clock. protocol.md beside the server's code documents them by example.
 */

/** @typedef {'draft'|'countdown'|'raining'|'closed'|'settled'} Phase */
/** @typedef {''|'time'|'sold_out'|'stopped'|'cancelled'|'interrupted'} CloseReason */
/** @typedef {'won'|'duplicate'|'capped'|'missed'|'sold_out'|'early'|'late'|'bomb'|'unknown_drop'|'throttled'|'frozen'|'busy'} Outcome */
/** @typedef {''|'host'|'keys_lost'|'claims_lost'|'books_differ'} Hold why a round is frozen; empty while it is not, or while that is not known yet */
/** @typedef {'player'|'host'|'screen'} Role */
/** @typedef {{code: string, name: string}} Room */
/** @typedef {{role: Role, player: string, nickname: string}} You */
/** @typedef {{id: string, nickname: string}} Player */
/** @typedef {{packets: number, cents: number}} Tier */

/**
 * @typedef {object} Round
 * @property {string} id
 * @property {string} room
 * @property {string} title
 * @property {Phase} phase
 * @property {CloseReason} reason
 * @property {boolean} frozen
 * @property {Hold} hold
 * @property {boolean} rehearsal
 * @property {number} total_cents
 * @property {number} packets
 * @property {'live'|'dealt'} split
 * @property {''|'double_mean'|'equal'|'tiers'} deal
 * @property {Tier[]} tiers
 * @property {'even'|'burst'} pace
 * @property {number} cap
 * @property {number} min_cents
 * @property {number} max_cents 0: none
 * @property {number} countdown_ms
 * @property {number} duration_ms
 * @property {number} drops_per_second
 * @property {number} bomb_percent
 * @property {boolean} close_when_sold_out
 * @property {number} place orders the drafts of a room, ascending
 * @property {number} starts_on when a draft starts by itself; 0: by hand
 * @property {number} missed_on the planned start that a draft missed; 0: none
 * @property {''|'room_busy'|'not_running'} miss_reason
 * @property {number} starts_at 0 until the round was started
 * @property {number} ends_at
 * @property {number} algorithm how the round is drawn and committed to; 0 in a draft
 * @property {string} commitment empty in a draft
 * @property {string} secret empty before the round is settled
 */

/** @typedef {{round: string, number: number, player: string, nickname: string, drop: number, cents: number}} Claim */
/** @typedef {{rank: number, player: string, nickname: string, cents: number}} Rank */
/** @typedef {{player: string, nickname: string}} Arrival */
/** @typedef {{drop: number, kind: 'packet'|'bomb', at_ms: number, lane: number}} Drop lane is 0 (left) to 999 (right) */

/**
 * @typedef {object} Tally
 * @property {'tally'} type
 * @property {string} round empty between rounds
 * @property {number} epoch
 * @property {number} serial
 * @property {number} at
 * @property {number} online
 * @property {number} taps
 * @property {number} claimed_packets
 * @property {number} claimed_cents
 * @property {number} left_packets
 * @property {number} left_cents
 * @property {Rank[]} top
 * @property {Claim[]} winners newest first
 * @property {Arrival[]} arrivals who came last and is still here, newest first; empty while a round is active
 */

/**
 * @typedef {object} Welcome
 * @property {'welcome'} type
 * @property {number} now
 * @property {You} you
 * @property {Room} room
 * @property {Round|null} round
 * @property {Claim[]} claims
 * @property {Drop[]} drops
 * @property {Tally} tally
 */

/** @typedef {{type: 'round', round: Round}} RoundChanged */
/** @typedef {{type: 'drops', round: string, drops: Drop[]}} Drops */
/** @typedef {{type: 'result', round: string, drop: number, outcome: Outcome, cents: number, number: number}} Result number: the claim's, 0 where nothing was won */
/** @typedef {{type: 'claim', claim: Claim}} ClaimMade */
/** @typedef {{type: 'notice', code: string, text: string}} Notice */
/** @typedef {{type: 'pong', sent: number, now: number}} Pong */
/** @typedef {{type: 'error', code: string, message: string}} Refused */

/** @typedef {Welcome|RoundChanged|Drops|Result|ClaimMade|Tally|Notice|Pong|Refused} ServerMessage */

/** @typedef {{type: 'tap', round: string, drop: number}} Tap */
/** @typedef {{type: 'ping', sent: number}} Ping sent is an integer from 0 to 2^53 - 1 */
/** @typedef {Tap|Ping} ClientMessage */

/** @param {string} round @param {number} drop @returns {Tap} */
export const tap = (round, drop) => ({ type: 'tap', round, drop });

/** @param {number} sent @returns {Ping} */
export const ping = (sent) => ({ type: 'ping', sent });
