-- +goose Up

-- The number of the way in which a round is drawn and its commitment is made (game.Algorithm). All rounds so far have the first;
-- a server of the release before does not know the column and goes on beginning rounds with it, hence the default.
ALTER TABLE rounds ADD COLUMN algorithm BIGINT NOT NULL DEFAULT 1;

-- +goose Down
-- Rounds that were begun with another algorithm cannot be checked after this.
ALTER TABLE rounds DROP COLUMN algorithm;
