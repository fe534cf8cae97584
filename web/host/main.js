/**
 * The page /host : rooms and rounds, for the host.
 *
 * body[data-phase]: loading, login, rooms, then of the room shown: waiting, countdown, raining, closed.
 * data-test: password, login, error, logout; room-name, make-room, room (data-code), no-rooms; back, room-title, connection
 * (data-state), room-code (data-code), room-link, open-screen, online (data-count); new-round, round-form, and of the form by
 * the API's names: title, total_cents (yuan), packets, duration_ms (seconds), cap, pace-even, pace-burst, split-live, split-dealt,
 * deal-double_mean, deal-equal, deal-tiers, tier-packets, tier-cents, tier-add, tier-remove, more (opens the rest), min_cents,
 * max_cents, countdown_ms (seconds), drops_per_second, bomb_percent, close_when_sold_out, error-FIELD, preview (data-ready,
 * data-min, data-max), create-round, close-form; round (data-round, data-phase) with round-phase, start, cancel, stop, dialog-yes,
 * dialog-no, show-claims, copy-round, claimed-cents and left-cents (data-cents), claimed-packets, left-packets and taps
 * (data-count), claim-row (data-number, data-cents), more-claims; rank (data-rank), winner (data-number); language, toast.
 */
import { t } from '../shared/i18n.js';
import { startPage } from '../shared/page.js';
import { HostPage } from './host-page.js';

startPage(HostPage, () => t('host.title'));
