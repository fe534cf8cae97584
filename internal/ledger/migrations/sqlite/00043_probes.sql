-- +goose Up

-- What each instance writes every few seconds, which proves that the database takes writes. Old rows are of instances that have ended;
-- those that start remove them.
CREATE TABLE probes (
    instance   TEXT        NOT NULL PRIMARY KEY,
    written_at BIGINT      NOT NULL -- ms since 1970, by the instance's clock
);

-- +goose Down
DROP TABLE probes;
