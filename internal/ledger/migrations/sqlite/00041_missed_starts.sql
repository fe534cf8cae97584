-- +goose Up

-- The planned start that a draft missed, and why; 0 and '' where it missed none.
ALTER TABLE rounds ADD COLUMN missed_on BIGINT NOT NULL DEFAULT 0;
ALTER TABLE rounds ADD COLUMN miss_reason VARCHAR(16) NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE rounds DROP COLUMN miss_reason;
ALTER TABLE rounds DROP COLUMN missed_on;
