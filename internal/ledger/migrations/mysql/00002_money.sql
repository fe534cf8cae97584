-- +goose Up

-- Everything is compared byte by byte.

-- Balances in cents. What a host owes may be anything; nobody else can have less than nothing.
-- Rehearsals use accounts of their own kinds, from which nothing can be paid out.
CREATE TABLE accounts (
    id      VARCHAR(100) NOT NULL PRIMARY KEY, -- KIND:OWNER
    kind    VARCHAR(100) NOT NULL CHECK (kind IN
        ('host', 'escrow', 'player', 'paid_out', 'play_host', 'play_escrow', 'play_player')),
    owner   VARCHAR(100) NOT NULL,             -- a room, a round or a player
    balance BIGINT NOT NULL,
    CHECK (kind IN ('host', 'play_host') OR balance >= 0)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- A movement names both of its accounts, so it is two entries that sum to zero. What it is for is its key: nothing is
-- moved twice. It is never changed and never deleted.
CREATE TABLE movements (
    round        VARCHAR(100) NOT NULL,
    kind         VARCHAR(100) NOT NULL CHECK (kind IN ('escrow', 'claim', 'refund', 'payout')),
    number       BIGINT NOT NULL, -- of the claim; 0 for escrow and refund
    from_account VARCHAR(100) NOT NULL,
    to_account   VARCHAR(100) NOT NULL,
    cents        BIGINT NOT NULL CHECK (cents >= 1),
    moved_at     BIGINT NOT NULL,
    PRIMARY KEY (round, kind, number),
    CHECK (from_account <> to_account)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE VIEW entries AS
    SELECT round, kind, number, from_account AS account, -cents AS cents, moved_at FROM movements
    UNION ALL
    SELECT round, kind, number, to_account AS account, cents, moved_at FROM movements;

-- What players were told. Never changed and never deleted.
CREATE TABLE claims (
    round      VARCHAR(100) NOT NULL,
    number     BIGINT NOT NULL CHECK (number >= 1),
    player     VARCHAR(100) NOT NULL,
    drop_id    BIGINT NOT NULL,
    cents      BIGINT NOT NULL CHECK (cents >= 1),
    claimed_at BIGINT NOT NULL, -- by Redis' clock
    PRIMARY KEY (round, number),
    UNIQUE (round, player, drop_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- One for each round that was begun: what the ledger holds of it. Whoever books for a round locks its row first.
CREATE TABLE round_books (
    round           VARCHAR(100) NOT NULL PRIMARY KEY,
    claims          BIGINT NOT NULL, -- rows in claims, and their sum
    claimed_cents   BIGINT NOT NULL,
    highest         BIGINT NOT NULL, -- greatest number that ever came
    excused         BIGINT NOT NULL, -- a highest number that Redis forgot, and the host released the round with
    accepted_claims BIGINT NOT NULL, -- how much more than Redis the host released the round with
    accepted_cents  BIGINT NOT NULL,
    released_at     BIGINT NOT NULL, -- 0: it was never frozen, or is for the first time
    retired         BOOLEAN NOT NULL -- Redis' keys have their last time to live
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- What closing a round left over, and the claims that it waits for.
CREATE TABLE refunds (
    round         VARCHAR(100) NOT NULL PRIMARY KEY,
    reason        VARCHAR(100) NOT NULL,
    closed_at     BIGINT NOT NULL, -- by Redis' clock
    claims        BIGINT NOT NULL CHECK (claims >= 0),
    claimed_cents BIGINT NOT NULL CHECK (claimed_cents >= 0),
    refund_cents  BIGINT NOT NULL CHECK (refund_cents >= 0),
    applied_at    BIGINT NOT NULL -- 0 while it waits
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Entries of the outbox that do not parse.
CREATE TABLE dead_letters (
    round     VARCHAR(100) NOT NULL,
    entry     VARCHAR(100) NOT NULL, -- its id in the stream
    raw       MEDIUMTEXT NOT NULL, -- JSON
    reason    TEXT NOT NULL,
    noted_at  BIGINT NOT NULL,
    driven_at BIGINT NOT NULL, -- 0 until it could be booked
    PRIMARY KEY (round, entry)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Claims that the ledger cannot hold as they came.
CREATE TABLE quarantine (
    round      VARCHAR(100) NOT NULL,
    number     BIGINT NOT NULL,
    player     VARCHAR(100) NOT NULL,
    drop_id    BIGINT NOT NULL,
    cents      BIGINT NOT NULL,
    claimed_at BIGINT NOT NULL,
    reason     VARCHAR(100) NOT NULL CHECK (reason IN ('overdraw', 'conflict', 'beyond')),
    noted_at   BIGINT NOT NULL,
    driven_at  BIGINT NOT NULL, -- 0 until it could be booked
    PRIMARY KEY (round, number, player, drop_id, cents)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- No triggers here that refuse changes of movements and claims, as the other databases have: to make one takes a privilege
-- that those who may make tables often lack. Nothing in the ledger changes or deletes them; a test sees to that.

-- +goose Down
DROP TABLE quarantine;
DROP TABLE dead_letters;
DROP TABLE refunds;
DROP TABLE round_books;
DROP TABLE claims;
DROP VIEW entries;
DROP TABLE movements;
DROP TABLE accounts;
