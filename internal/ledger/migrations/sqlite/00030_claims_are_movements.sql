-- +goose Up

-- A claim is itself the movement from its round's escrow to its player: one row for it, and not two. It names its round by the
-- number of the round's books, as there are millions of claims, and what comes within a second should lie on few pages.

DROP VIEW entries;

CREATE TABLE numbered_books (
    book            INTEGER PRIMARY KEY, -- given in the order in which rounds are begun
    round           TEXT   NOT NULL UNIQUE,
    claims          BIGINT NOT NULL, -- rows in claims, and their sum
    claimed_cents   BIGINT NOT NULL,
    highest         BIGINT NOT NULL, -- greatest number that ever came
    excused         BIGINT NOT NULL, -- a highest number that Redis forgot, and the host released the round with
    accepted_claims BIGINT NOT NULL, -- how much more than Redis the host released the round with
    accepted_cents  BIGINT NOT NULL,
    released_at     BIGINT NOT NULL, -- 0: it was never frozen, or is for the first time
    retired         BOOLEAN NOT NULL -- Redis' keys have their last time to live
);
INSERT INTO numbered_books
    (round, claims, claimed_cents, highest, excused, accepted_claims, accepted_cents, released_at, retired)
    SELECT b.round, b.claims, b.claimed_cents, b.highest, b.excused, b.accepted_claims, b.accepted_cents, b.released_at, b.retired
    FROM round_books AS b JOIN rounds AS r ON r.id = b.round ORDER BY r.begun_at, r.id;
DROP TABLE round_books;
ALTER TABLE numbered_books RENAME TO round_books;

-- What players were told, and the money that it moved. Never changed and never deleted.
CREATE TABLE claims_in_books (
    book       BIGINT NOT NULL, -- of the round
    number     BIGINT NOT NULL CHECK (number >= 1),
    player     TEXT   NOT NULL,
    drop_id    BIGINT NOT NULL,
    cents      BIGINT NOT NULL CHECK (cents >= 1),
    claimed_at BIGINT NOT NULL, -- by Redis' clock
    PRIMARY KEY (book, number),
    UNIQUE (book, player, drop_id)
) WITHOUT ROWID;
INSERT INTO claims_in_books (book, number, player, drop_id, cents, claimed_at)
    SELECT b.book, c.number, c.player, c.drop_id, c.cents, c.claimed_at FROM claims AS c JOIN round_books AS b ON b.round = c.round;
DROP TABLE claims;
ALTER TABLE claims_in_books RENAME TO claims;

-- What else moves money: budgets, refunds and payouts. A movement names both of its accounts, so it is two entries that sum to
-- zero. What it is for is its key: nothing is moved twice. It is never changed and never deleted.
CREATE TABLE other_movements (
    round        TEXT   NOT NULL,
    kind         TEXT   NOT NULL CHECK (kind IN ('escrow', 'refund', 'payout')),
    number       BIGINT NOT NULL, -- of the claim; 0 for escrow and refund
    from_account TEXT   NOT NULL,
    to_account   TEXT   NOT NULL,
    cents        BIGINT NOT NULL CHECK (cents >= 1),
    moved_at     BIGINT NOT NULL,
    PRIMARY KEY (round, kind, number),
    CHECK (from_account <> to_account)
) WITHOUT ROWID;
INSERT INTO other_movements SELECT * FROM movements WHERE kind <> 'claim';
DROP TABLE movements;
ALTER TABLE other_movements RENAME TO movements;

-- Every movement of money, whatever it is for.
CREATE VIEW all_movements AS
    SELECT round, kind, number, from_account, to_account, cents, moved_at FROM movements
    UNION ALL
    SELECT b.round, 'claim', c.number, CASE WHEN r.rehearsal THEN 'play_escrow:' ELSE 'escrow:' END || b.round,
        CASE WHEN r.rehearsal THEN 'play_player:' ELSE 'player:' END || c.player, c.cents, c.claimed_at
    FROM claims AS c JOIN round_books AS b ON b.book = c.book JOIN rounds AS r ON r.id = b.round;

CREATE VIEW entries AS
    SELECT round, kind, number, from_account AS account, -cents AS cents, moved_at FROM all_movements
    UNION ALL
    SELECT round, kind, number, to_account AS account, cents, moved_at FROM all_movements;

-- +goose StatementBegin
CREATE TRIGGER movements_are_not_changed BEFORE UPDATE ON movements
BEGIN SELECT RAISE(ABORT, 'movements are never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER movements_are_not_deleted BEFORE DELETE ON movements
BEGIN SELECT RAISE(ABORT, 'movements are never deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER claims_are_not_changed BEFORE UPDATE ON claims
BEGIN SELECT RAISE(ABORT, 'claims are never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER claims_are_not_deleted BEFORE DELETE ON claims
BEGIN SELECT RAISE(ABORT, 'claims are never deleted'); END;
-- +goose StatementEnd

-- +goose Down

CREATE TABLE movements_of_all (
    round        TEXT   NOT NULL,
    kind         TEXT   NOT NULL CHECK (kind IN ('escrow', 'claim', 'refund', 'payout')),
    number       BIGINT NOT NULL,
    from_account TEXT   NOT NULL,
    to_account   TEXT   NOT NULL,
    cents        BIGINT NOT NULL CHECK (cents >= 1),
    moved_at     BIGINT NOT NULL,
    PRIMARY KEY (round, kind, number),
    CHECK (from_account <> to_account)
) WITHOUT ROWID;
INSERT INTO movements_of_all SELECT * FROM all_movements;
DROP VIEW entries;
DROP VIEW all_movements;
DROP TABLE movements;
ALTER TABLE movements_of_all RENAME TO movements;

CREATE TABLE claims_of_rounds (
    round      TEXT   NOT NULL,
    number     BIGINT NOT NULL CHECK (number >= 1),
    player     TEXT   NOT NULL,
    drop_id    BIGINT NOT NULL,
    cents      BIGINT NOT NULL CHECK (cents >= 1),
    claimed_at BIGINT NOT NULL,
    PRIMARY KEY (round, number),
    UNIQUE (round, player, drop_id)
) WITHOUT ROWID;
INSERT INTO claims_of_rounds (round, number, player, drop_id, cents, claimed_at)
    SELECT b.round, c.number, c.player, c.drop_id, c.cents, c.claimed_at FROM claims AS c JOIN round_books AS b ON b.book = c.book;
DROP TABLE claims;
ALTER TABLE claims_of_rounds RENAME TO claims;

CREATE TABLE books_of_rounds (
    round           TEXT   NOT NULL PRIMARY KEY,
    claims          BIGINT NOT NULL,
    claimed_cents   BIGINT NOT NULL,
    highest         BIGINT NOT NULL,
    excused         BIGINT NOT NULL,
    accepted_claims BIGINT NOT NULL,
    accepted_cents  BIGINT NOT NULL,
    released_at     BIGINT NOT NULL,
    retired         BOOLEAN NOT NULL
) WITHOUT ROWID;
INSERT INTO books_of_rounds
    SELECT round, claims, claimed_cents, highest, excused, accepted_claims, accepted_cents, released_at, retired FROM round_books;
DROP TABLE round_books;
ALTER TABLE books_of_rounds RENAME TO round_books;

CREATE VIEW entries AS
    SELECT round, kind, number, from_account AS account, -cents AS cents, moved_at FROM movements
    UNION ALL
    SELECT round, kind, number, to_account AS account, cents, moved_at FROM movements;

-- +goose StatementBegin
CREATE TRIGGER movements_are_not_changed BEFORE UPDATE ON movements
BEGIN SELECT RAISE(ABORT, 'movements are never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER movements_are_not_deleted BEFORE DELETE ON movements
BEGIN SELECT RAISE(ABORT, 'movements are never deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER claims_are_not_changed BEFORE UPDATE ON claims
BEGIN SELECT RAISE(ABORT, 'claims are never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER claims_are_not_deleted BEFORE DELETE ON claims
BEGIN SELECT RAISE(ABORT, 'claims are never deleted'); END;
-- +goose StatementEnd
