-- +goose Up

-- A claim is itself the movement from its round's escrow to its player: one row for it, and not two. It names its round by the
-- number of the round's books, as there are millions of claims.

DROP VIEW entries;

ALTER TABLE round_books DROP PRIMARY KEY, ADD UNIQUE KEY books_of_round (round),
    ADD COLUMN book BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY FIRST;

-- What players were told, and the money that it moved. Never changed and never deleted.
CREATE TABLE claims_in_books (
    book       BIGINT NOT NULL, -- of the round
    number     BIGINT NOT NULL CHECK (number >= 1),
    player     VARCHAR(100) NOT NULL,
    drop_id    BIGINT NOT NULL,
    cents      BIGINT NOT NULL CHECK (cents >= 1),
    claimed_at BIGINT NOT NULL, -- by Redis' clock
    PRIMARY KEY (book, number),
    UNIQUE (book, player, drop_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
INSERT INTO claims_in_books (book, number, player, drop_id, cents, claimed_at)
    SELECT b.book, c.number, c.player, c.drop_id, c.cents, c.claimed_at FROM claims AS c JOIN round_books AS b ON b.round = c.round;
DROP TABLE claims;
RENAME TABLE claims_in_books TO claims;

-- What else moves money: budgets, refunds and payouts. A movement names both of its accounts, so it is two entries that sum to
-- zero. What it is for is its key: nothing is moved twice. It is never changed and never deleted.
CREATE TABLE other_movements (
    round        VARCHAR(100) NOT NULL,
    kind         VARCHAR(100) NOT NULL CHECK (kind IN ('escrow', 'refund', 'payout')),
    number       BIGINT NOT NULL, -- of the claim; 0 for escrow and refund
    from_account VARCHAR(100) NOT NULL,
    to_account   VARCHAR(100) NOT NULL,
    cents        BIGINT NOT NULL CHECK (cents >= 1),
    moved_at     BIGINT NOT NULL,
    PRIMARY KEY (round, kind, number),
    CHECK (from_account <> to_account)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
INSERT INTO other_movements SELECT * FROM movements WHERE kind <> 'claim';
DROP TABLE movements;
RENAME TABLE other_movements TO movements;

-- Every movement of money, whatever it is for.
CREATE VIEW all_movements AS
    SELECT round, kind, number, from_account, to_account, cents, moved_at FROM movements
    UNION ALL
    SELECT b.round, 'claim', c.number, CONCAT(CASE WHEN r.rehearsal THEN 'play_escrow:' ELSE 'escrow:' END, b.round),
        CONCAT(CASE WHEN r.rehearsal THEN 'play_player:' ELSE 'player:' END, c.player), c.cents, c.claimed_at
    FROM claims AS c JOIN round_books AS b ON b.book = c.book JOIN rounds AS r ON r.id = b.round;

CREATE VIEW entries AS
    SELECT round, kind, number, from_account AS account, -cents AS cents, moved_at FROM all_movements
    UNION ALL
    SELECT round, kind, number, to_account AS account, cents, moved_at FROM all_movements;

-- +goose Down

CREATE TABLE movements_of_all (
    round        VARCHAR(100) NOT NULL,
    kind         VARCHAR(100) NOT NULL CHECK (kind IN ('escrow', 'claim', 'refund', 'payout')),
    number       BIGINT NOT NULL,
    from_account VARCHAR(100) NOT NULL,
    to_account   VARCHAR(100) NOT NULL,
    cents        BIGINT NOT NULL CHECK (cents >= 1),
    moved_at     BIGINT NOT NULL,
    PRIMARY KEY (round, kind, number),
    CHECK (from_account <> to_account)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
INSERT INTO movements_of_all SELECT * FROM all_movements;
DROP VIEW entries;
DROP VIEW all_movements;
DROP TABLE movements;
RENAME TABLE movements_of_all TO movements;

CREATE TABLE claims_of_rounds (
    round      VARCHAR(100) NOT NULL,
    number     BIGINT NOT NULL CHECK (number >= 1),
    player     VARCHAR(100) NOT NULL,
    drop_id    BIGINT NOT NULL,
    cents      BIGINT NOT NULL CHECK (cents >= 1),
    claimed_at BIGINT NOT NULL,
    PRIMARY KEY (round, number),
    UNIQUE (round, player, drop_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
INSERT INTO claims_of_rounds (round, number, player, drop_id, cents, claimed_at)
    SELECT b.round, c.number, c.player, c.drop_id, c.cents, c.claimed_at FROM claims AS c JOIN round_books AS b ON b.book = c.book;
DROP TABLE claims;
RENAME TABLE claims_of_rounds TO claims;

ALTER TABLE round_books DROP COLUMN book, DROP KEY books_of_round, ADD PRIMARY KEY (round);

CREATE VIEW entries AS
    SELECT round, kind, number, from_account AS account, -cents AS cents, moved_at FROM movements
    UNION ALL
    SELECT round, kind, number, to_account AS account, cents, moved_at FROM movements;
