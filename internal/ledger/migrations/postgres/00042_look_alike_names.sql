-- +goose Up

-- The key of a nickname and of all that look like it (game.NameKey), so that no two players of a room have such. NULL: the player came
-- before this, or through a server of the release before.
ALTER TABLE players ADD COLUMN name_key VARCHAR(64);
CREATE UNIQUE INDEX player_of_name ON players (room, name_key);

-- +goose Down
DROP INDEX player_of_name;
ALTER TABLE players DROP COLUMN name_key;
