-- +goose Up

-- Hosts' sessions that ended before they expired, until nobody would take their tokens anyway.
CREATE TABLE ended_sessions (
    id           TEXT        NOT NULL PRIMARY KEY,
    forget_after BIGINT      NOT NULL -- ms since 1970
);

-- +goose Down
DROP TABLE ended_sessions;
