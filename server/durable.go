package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"redrain/internal/api"
	"redrain/internal/probe"
	"redrain/internal/rdb"
)

// checkDurable warns of a Redis that could lose claims, or returns an error if REQUIRE_DURABLE_REDIS is set.
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

// durabilityChecks returns checks to run while the instance runs, since the configuration of Redis can change. A Redis that does not
// show its configuration only causes a warning at the start.
func (a *app) durabilityChecks() (checks, warnings []api.Check) {
	if a.embedded != nil {
		return nil, nil
	}
	check := []api.Check{{Name: "durability", Run: func(ctx context.Context) error {
		if err := a.redis.CheckDurable(ctx); errors.Is(err, rdb.ErrNotDurable) {
			return &probe.Failure{Reason: probe.NotDurable, Err: err}
		}
		return nil
	}}}
	if a.config.RequireDurable {
		return check, nil
	}
	return nil, check
}
