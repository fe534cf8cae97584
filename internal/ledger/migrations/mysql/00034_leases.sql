-- +goose Up

-- What one instance at a time may do, and until when. The moments are by the database's clock.
CREATE TABLE leases (
    name       VARCHAR(100) NOT NULL PRIMARY KEY,
    holder     VARCHAR(200) NOT NULL, -- empty: nobody
    expires_at BIGINT       NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Of the instance that is alone on this database with an embedded Redis.
INSERT INTO leases VALUES ('embedded redis', '', 0);

-- +goose Down
DROP TABLE leases;
