-- +goose Up

-- Settled rounds whose claims are to be paid out. Payouts are made from it little by little, so that settling a round with a
-- million claims stays one short transaction.
CREATE TABLE payout_plans (
    round       TEXT NOT NULL PRIMARY KEY,
    size        BIGINT NOT NULL CHECK (size >= 1), -- claims in one payout, at most
    planned     BIGINT NOT NULL,                   -- claims up to this number are in payouts
    last_number BIGINT NOT NULL,                   -- the greatest number of the round's claims
    planned_at  BIGINT NOT NULL
);

-- A payout holds the claims with numbers from number to last_number, and so names what it is for: it is made once, and paid
-- once.
CREATE TABLE payouts (
    round       TEXT NOT NULL,
    number      BIGINT NOT NULL,
    last_number BIGINT NOT NULL,
    claims      BIGINT NOT NULL CHECK (claims >= 1),
    cents       BIGINT NOT NULL CHECK (cents >= 1),
    state       TEXT NOT NULL CHECK (state IN ('pending', 'paid', 'failed')),
    holder      TEXT NOT NULL, -- who sends it right now; empty: nobody
    attempts    BIGINT NOT NULL,
    made_at     BIGINT NOT NULL,
    tried_at    BIGINT NOT NULL, -- for the first time since it was made, or sent again by the host; 0: not yet
    due_at      BIGINT NOT NULL, -- when it is to be sent next, or when whoever holds it is taken for dead
    paid_at     BIGINT NOT NULL,
    problem     TEXT NOT NULL, -- of the last attempt
    PRIMARY KEY (round, number)
);

CREATE INDEX payouts_due ON payouts (state, due_at);

-- +goose Down
DROP TABLE payouts;
DROP TABLE payout_plans;
