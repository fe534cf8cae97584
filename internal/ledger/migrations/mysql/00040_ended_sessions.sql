-- +goose Up

-- Hosts' sessions that ended before they expired, until nobody would take their tokens anyway.
CREATE TABLE ended_sessions (
    id           VARCHAR(64) NOT NULL PRIMARY KEY,
    forget_after BIGINT      NOT NULL -- ms since 1970
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE ended_sessions;
