-- +goose Up

-- What one instance at a time may do, and until when. The moments are by the database's clock.
CREATE TABLE leases (
    name       TEXT   NOT NULL PRIMARY KEY,
    holder     TEXT   NOT NULL, -- empty: nobody
    expires_at BIGINT NOT NULL
);

-- Of the instance that is alone on this database with an embedded Redis.
INSERT INTO leases VALUES ('embedded redis', '', 0);

-- +goose Down
DROP TABLE leases;
