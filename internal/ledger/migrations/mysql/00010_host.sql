-- +goose Up

-- What hosts decide about who comes in. A stage is the hidden room in which another room's rehearsals are played.
ALTER TABLE rooms ADD COLUMN locked BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE rooms ADD COLUMN app_only BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE rooms ADD COLUMN stage_of VARCHAR(16); -- NULL: a room of people
CREATE UNIQUE INDEX stage_of_room ON rooms (stage_of);

-- A subject is whom the host's own app calls somebody; NULL for those who came in by themselves.
ALTER TABLE players ADD COLUMN blocked BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE players ADD COLUMN subject VARCHAR(128);
CREATE UNIQUE INDEX player_of_subject ON players (room, subject);

-- Where a draft stands in the order in which rounds are to be played, and when it starts by itself; 0: by hand.
ALTER TABLE rounds ADD COLUMN place BIGINT NOT NULL DEFAULT 0;
ALTER TABLE rounds ADD COLUMN starts_on BIGINT NOT NULL DEFAULT 0;

CREATE TABLE rehearsals (
    round    VARCHAR(36)   NOT NULL PRIMARY KEY, -- the round that was played on the stage
    room     VARCHAR(16)   NOT NULL,             -- the room that it was for
    players  BIGINT        NOT NULL,
    rate     DOUBLE PRECISION NOT NULL,          -- taps a second of each player
    state    VARCHAR(16)   NOT NULL CHECK (state IN ('running', 'done', 'failed')),
    report   TEXT          NOT NULL,             -- JSON; empty until it is done
    problem  VARCHAR(1000) NOT NULL,             -- why it failed
    begun_at BIGINT        NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE INDEX rehearsals_of_room ON rehearsals (room, begun_at);

-- +goose Down
DROP TABLE rehearsals;
ALTER TABLE rounds DROP COLUMN starts_on;
ALTER TABLE rounds DROP COLUMN place;
DROP INDEX player_of_subject ON players;
ALTER TABLE players DROP COLUMN subject;
ALTER TABLE players DROP COLUMN blocked;
DROP INDEX stage_of_room ON rooms;
ALTER TABLE rooms DROP COLUMN stage_of;
ALTER TABLE rooms DROP COLUMN app_only;
ALTER TABLE rooms DROP COLUMN locked;
