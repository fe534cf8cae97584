-- +goose Up

-- Balances in cents. What a host owes may be anything; nobody else can have less than nothing.
-- Rehearsals use accounts of their own kinds, from which nothing can be paid out.
CREATE TABLE accounts (
    id      TEXT   NOT NULL PRIMARY KEY, -- KIND:OWNER
    kind    TEXT   NOT NULL CHECK (kind IN
        ('host', 'escrow', 'player', 'paid_out', 'play_host', 'play_escrow', 'play_player')),
    owner   TEXT   NOT NULL,             -- a room, a round or a player
    balance BIGINT NOT NULL,
    CHECK (kind IN ('host', 'play_host') OR balance >= 0)
);

-- A movement names both of its accounts, so it is two entries that sum to zero. What it is for is its key: nothing is
-- moved twice. It is never changed and never deleted.
CREATE TABLE movements (
    round        TEXT   NOT NULL,
    kind         TEXT   NOT NULL CHECK (kind IN ('escrow', 'claim', 'refund', 'payout')),
    number       BIGINT NOT NULL, -- of the claim; 0 for escrow and refund
    from_account TEXT   NOT NULL,
    to_account   TEXT   NOT NULL,
    cents        BIGINT NOT NULL CHECK (cents >= 1),
    moved_at     BIGINT NOT NULL,
    PRIMARY KEY (round, kind, number),
    CHECK (from_account <> to_account)
);

CREATE VIEW entries AS
    SELECT round, kind, number, from_account AS account, -cents AS cents, moved_at FROM movements
    UNION ALL
    SELECT round, kind, number, to_account AS account, cents, moved_at FROM movements;

-- What players were told. Never changed and never deleted.
CREATE TABLE claims (
    round      TEXT   NOT NULL,
    number     BIGINT NOT NULL CHECK (number >= 1),
    player     TEXT   NOT NULL,
    drop_id    BIGINT NOT NULL,
    cents      BIGINT NOT NULL CHECK (cents >= 1),
    claimed_at BIGINT NOT NULL, -- by Redis' clock
    PRIMARY KEY (round, number),
    UNIQUE (round, player, drop_id)
);

-- One for each round that was begun: what the ledger holds of it. Whoever books for a round locks its row first.
CREATE TABLE round_books (
    round           TEXT   NOT NULL PRIMARY KEY,
    claims          BIGINT NOT NULL, -- rows in claims, and their sum
    claimed_cents   BIGINT NOT NULL,
    highest         BIGINT NOT NULL, -- greatest number that ever came
    excused         BIGINT NOT NULL, -- a highest number that Redis forgot, and the host released the round with
    accepted_claims BIGINT NOT NULL, -- how much more than Redis the host released the round with
    accepted_cents  BIGINT NOT NULL,
    released_at     BIGINT NOT NULL, -- 0: it was never frozen, or is for the first time
    retired         BOOLEAN NOT NULL -- Redis' keys have their last time to live
);

-- What closing a round left over, and the claims that it waits for.
CREATE TABLE refunds (
    round         TEXT   NOT NULL PRIMARY KEY,
    reason        TEXT   NOT NULL,
    closed_at     BIGINT NOT NULL, -- by Redis' clock
    claims        BIGINT NOT NULL CHECK (claims >= 0),
    claimed_cents BIGINT NOT NULL CHECK (claimed_cents >= 0),
    refund_cents  BIGINT NOT NULL CHECK (refund_cents >= 0),
    applied_at    BIGINT NOT NULL -- 0 while it waits
);

-- Entries of the outbox that do not parse.
CREATE TABLE dead_letters (
    round     TEXT   NOT NULL,
    entry     TEXT   NOT NULL, -- its id in the stream
    raw       TEXT   NOT NULL, -- JSON
    reason    TEXT   NOT NULL,
    noted_at  BIGINT NOT NULL,
    driven_at BIGINT NOT NULL, -- 0 until it could be booked
    PRIMARY KEY (round, entry)
);

-- Claims that the ledger cannot hold as they came.
CREATE TABLE quarantine (
    round      TEXT   NOT NULL,
    number     BIGINT NOT NULL,
    player     TEXT   NOT NULL,
    drop_id    BIGINT NOT NULL,
    cents      BIGINT NOT NULL,
    claimed_at BIGINT NOT NULL,
    reason     TEXT   NOT NULL CHECK (reason IN ('overdraw', 'conflict', 'beyond')),
    noted_at   BIGINT NOT NULL,
    driven_at  BIGINT NOT NULL, -- 0 until it could be booked
    PRIMARY KEY (round, number, player, drop_id, cents)
);

-- +goose StatementBegin
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% are never changed or deleted', TG_TABLE_NAME; END
$$;
-- +goose StatementEnd
CREATE TRIGGER movements_are_not_changed BEFORE UPDATE OR DELETE ON movements FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER claims_are_not_changed BEFORE UPDATE OR DELETE ON claims FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- +goose Down
DROP TABLE quarantine;
DROP TABLE dead_letters;
DROP TABLE refunds;
DROP TABLE round_books;
DROP TABLE claims;
DROP VIEW entries;
DROP TABLE movements;
DROP TABLE accounts;
DROP FUNCTION refuse_change();
