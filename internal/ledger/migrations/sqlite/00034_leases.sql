-- +goose Up
-- Nothing: instances on one file exclude each other by locked files beside it, which nobody has to renew.

-- +goose Down
