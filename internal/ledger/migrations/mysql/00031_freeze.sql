-- +goose Up

-- Why a round is frozen ('' while it is not), and how often its freeze changed: Redis takes over only a newer one.
ALTER TABLE rounds ADD COLUMN freeze_reason VARCHAR(16) NOT NULL DEFAULT '';
ALTER TABLE rounds ADD COLUMN freeze_version BIGINT NOT NULL DEFAULT 0;
UPDATE rounds SET freeze_reason = 'host' WHERE frozen; -- nobody wrote down why

-- +goose Down
ALTER TABLE rounds DROP COLUMN freeze_version;
ALTER TABLE rounds DROP COLUMN freeze_reason;
