-- +goose Up

-- What is asked by timers, or by anybody, reads a bounded part of the books by an index, however many rounds there were.

-- Open rounds of all rooms, and drafts that are due.
CREATE INDEX rounds_in_phase_due ON rounds (phase, starts_on);
DROP INDEX rounds_in_phase;

-- A room's rounds in the order in which they began, and in the order in which they were made.
CREATE INDEX rounds_of_room_begun ON rounds (room, begun_at, id);
CREATE INDEX rounds_of_room_created ON rounds (room, created_at, id);
DROP INDEX rounds_of_room;

-- A room's next planned draft; and all that a list of rooms counts.
CREATE INDEX rounds_of_room_in_phase ON rounds (room, phase, starts_on, rehearsal, claimed_cents);

-- The newest rooms.
CREATE INDEX rooms_created ON rooms (created_at, code);

-- The few players of a room who are blocked.
CREATE INDEX players_of_room_blocked ON players (room, blocked);

-- The few rounds that settlers look after.
CREATE INDEX round_books_retired ON round_books (retired, round);

-- Plans whose payouts are all made are not looked at any more.
ALTER TABLE payout_plans ADD COLUMN made BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE payout_plans SET made = TRUE WHERE planned >= last_number;
CREATE INDEX payout_plans_unmade ON payout_plans (made, planned_at, round);

-- Payouts in the order in which they are due, and what became of those of one round.
CREATE INDEX payouts_in_state_due ON payouts (state, due_at, round, number);
CREATE INDEX payouts_of_round_in_state ON payouts (round, state, claims, cents);
DROP INDEX payouts_due;

-- +goose Down
CREATE INDEX payouts_due ON payouts (state, due_at);
DROP INDEX payouts_of_round_in_state;
DROP INDEX payouts_in_state_due;
DROP INDEX payout_plans_unmade;
ALTER TABLE payout_plans DROP COLUMN made;
DROP INDEX round_books_retired;
DROP INDEX players_of_room_blocked;
DROP INDEX rooms_created;
CREATE INDEX rounds_of_room ON rounds (room, created_at);
DROP INDEX rounds_of_room_in_phase;
DROP INDEX rounds_of_room_created;
DROP INDEX rounds_of_room_begun;
CREATE INDEX rounds_in_phase ON rounds (phase);
DROP INDEX rounds_in_phase_due;
