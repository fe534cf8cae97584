package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"redrain/internal/api"
	"redrain/internal/rdb"
)

// checkDurable refuses a Redis that would lose money where the configuration says so, and else warns of it.
func (c *settleConfig) checkDurable(ctx context.Context, redis *rdb.Client, log *slog.Logger) error {
	err := redis.CheckDurable(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, rdb.ErrNotDurable) && c.RequireDurable:
		return fmt.Errorf("REQUIRE_DURABLE_REDIS: %w", err)
	case errors.Is(err, rdb.ErrNotDurable):
		log.Warn("WINS CAN BE LOST WITH REDIS: good for trying out, not for money", "because", err)
	default:
		log.Warn("cannot tell whether wins can be lost with redis", "because", err)
	}
	return nil
}

// durabilityChecks are asked while the instance runs: the configuration of Redis can change. One that does not tell is said
// so at the start, and not again.
func (a *app) durabilityChecks() (checks, warnings []api.Check) {
	if a.embedded != nil {
		return nil, nil
	}
	check := []api.Check{{Name: "durability", Run: func(ctx context.Context) error {
		if err := a.redis.CheckDurable(ctx); errors.Is(err, rdb.ErrNotDurable) {
			return err
		}
		return nil
	}}}
	if a.config.RequireDurable {
		return check, nil
	}
	return nil, check
}
