/**
 * The page /host : rooms and rounds, for the host.
 *
 * body[data-phase]: loading, login, rooms, then of the room shown: waiting, countdown, raining, closed.
 * data-test: password, login, error, logout, theme, language, toast; room-name, make-room, room (data-code), no-rooms; of a room:
 * back, room-title, connection (data-state), show-keys, keys, tab-rounds, tab-players, tab-books, tab-rehearsals, room-code (data-code),
 * room-link, open-screen, online (data-count), announce, send-announcement, error-announce, health-page, health-redis,
 * health-database (data-ok); rank (data-rank), winner (data-number).
 * Rounds: new-round, preset-party, preset-stream, preset-test, export, import, import-file, error-import, no-rounds, start-next;
 * round-form, and of the form by the API's names: title, total_cents (yuan), packets, duration_ms (seconds), cap, pace-even,
 * pace-burst, split-live, split-dealt, deal-double_mean, deal-equal, deal-tiers, tier-packets, tier-cents, tier-add,
 * tier-remove, more (opens the rest), min_cents, max_cents, countdown_ms (seconds), drops_per_second, bomb_percent,
 * close_when_sold_out, error-FIELD, preview (data-ready, data-min, data-max), lasting-players, lasting, create-round, close-form;
 * round (data-round, data-phase, of a draft data-place) with round-phase, start, cancel, stop, dialog-yes, dialog-no, copy-round;
 * of a draft move-up, move-down, plan, starts-on, save-start, error-starts-on, planned (data-on), unplan, edit, to-rehearsal, drop; of
 * others frozen, claimed-cents and left-cents (data-cents), claimed-packets, left-packets and taps (data-count), charts,
 * chart-taps, chart-claimed and chart-online (data-points), show-claims, books (data-agrees), books-verdict, books-budget,
 * books-claimed, books-refunded and books-held (data-cents), freeze, release, claims-search, sort-number, sort-nickname,
 * csv, payouts (data-failed), payouts-paid, payouts-pending and payouts-failed (data-cents), resend, payout (data-state),
 * sort-cents, claim-row (data-number, data-cents), more-claims.
 * Books: no-books, sums, statement, balance, sum-row and sum-all with sum-budget_cents, sum-claimed_cents, sum-refunded_cents,
 * sum-held_cents and sum-paid_out_cents (data-cents).
 * Players: players (data-count, data-sought), players-search, players-found, player (data-player, data-blocked), rename, new-name,
 * save-name, block, unblock, dialog-about, players-new (data-count), more-players, players-most, stale, retry, doors (data-locked, data-app), door-locked, door-app_only. Rehearsals: rehearse-round, bots_players, bots_taps_per_second, rehearse, rehearsal (data-state,
 * data-conserved), report-verdict, report-players, report-taps, report-rate, report-won, report-p50, report-p99.
 */
import { addWords, t } from '../shared/i18n.js';
import { startPage } from '../shared/page.js';
import { HostPage } from './host-page.js';
import { words as en } from './words.en.js';
import { words as zh } from './words.zh.js';

addWords({ en, zh });
startPage(HostPage, () => t('host.title'));
