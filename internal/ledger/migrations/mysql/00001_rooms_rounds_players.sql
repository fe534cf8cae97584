-- +goose Up

-- Everything is compared byte by byte.

-- Texts that the instances share, such as the secret that signs sessions. The first one written stays.
CREATE TABLE settings (
    name  VARCHAR(64) NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE rooms (
    code         VARCHAR(100) NOT NULL PRIMARY KEY,
    name         TEXT NOT NULL,
    active_round VARCHAR(100) UNIQUE, -- the round that is in countdown or raining; NULL for none
    created_at   BIGINT NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE players (
    id        VARCHAR(100) NOT NULL PRIMARY KEY,
    room      VARCHAR(100) NOT NULL,
    nickname  TEXT NOT NULL,
    joined_at BIGINT NOT NULL,
    FOREIGN KEY (room) REFERENCES rooms (code)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE INDEX players_of_room ON players (room, joined_at);

CREATE TABLE rounds (
    id                  VARCHAR(100) NOT NULL PRIMARY KEY,
    room                VARCHAR(100) NOT NULL,
    title               TEXT NOT NULL,
    total_cents         BIGINT  NOT NULL CHECK (total_cents >= 1),
    packets             BIGINT  NOT NULL CHECK (packets >= 1),
    split               VARCHAR(100) NOT NULL CHECK (split IN ('live', 'dealt')),
    deal                VARCHAR(100) NOT NULL,
    tiers               MEDIUMTEXT NOT NULL, -- JSON: [{"packets","cents"}, …]
    pace                VARCHAR(100) NOT NULL CHECK (pace IN ('even', 'burst')),
    cap                 BIGINT  NOT NULL CHECK (cap >= 1),
    min_cents           BIGINT  NOT NULL CHECK (min_cents >= 1),
    max_cents           BIGINT  NOT NULL CHECK (max_cents >= 0), -- 0: none
    countdown_ms        BIGINT  NOT NULL CHECK (countdown_ms >= 0),
    duration_ms         BIGINT  NOT NULL CHECK (duration_ms >= 1),
    drops_per_second    BIGINT  NOT NULL,
    bomb_percent        BIGINT  NOT NULL,
    close_when_sold_out BOOLEAN NOT NULL,
    rehearsal           BOOLEAN NOT NULL,
    phase               VARCHAR(100) NOT NULL CHECK (phase IN ('draft', 'countdown', 'raining', 'closed', 'settled')),
    reason              VARCHAR(100) NOT NULL, -- of a closed round, else empty
    frozen              BOOLEAN NOT NULL,
    secret              VARCHAR(100) NOT NULL, -- empty in a draft
    commitment          VARCHAR(100) NOT NULL, -- empty in a draft
    starts_at           BIGINT  NOT NULL, -- by Redis' clock; 0 until the round is open in Redis
    ends_at             BIGINT  NOT NULL,
    claimed_packets     BIGINT  NOT NULL,
    claimed_cents       BIGINT  NOT NULL,
    created_at          BIGINT  NOT NULL,
    begun_at            BIGINT  NOT NULL, -- by the clock of the instance that began it; 0 in a draft
    closed_at           BIGINT  NOT NULL, -- by the clock of the instance that closed it; 0 before
    FOREIGN KEY (room) REFERENCES rooms (code),
    CHECK (claimed_packets BETWEEN 0 AND packets), -- MySQL wants what concerns two columns here
    CHECK (claimed_cents BETWEEN 0 AND total_cents),
    CHECK ((phase = 'draft') = (secret = '')),
    CHECK ((phase IN ('closed', 'settled')) = (reason <> ''))
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE INDEX rounds_of_room ON rounds (room, created_at);
CREATE INDEX rounds_in_phase ON rounds (phase);

-- +goose Down
DROP TABLE rounds;
DROP TABLE players;
DROP TABLE rooms;
DROP TABLE settings;
