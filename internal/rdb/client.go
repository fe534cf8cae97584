// Package rdb is the only package that uses Redis: keys, scripts, the outbox, pub/sub, and the estimate of Redis' clock.
// One typed method for each script; each checks the shape of the reply in one place.
package rdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
)

// Client talks to one Redis, or one Redis Cluster. It is safe for concurrent use.
type Client struct {
	redis redis.UniversalClient
	clock *Clock
	// topology is nil without a cluster.
	topology *topology
	// instance identifies this process in batches, consumer groups and staged lists.
	instance string
	// connections counts those of all subscriptions.
	connections atomic.Int64
	errors      *errorCounter
}

// dialTimeout bounds a connection attempt, callTimeout one call without a deadline of its own.
const (
	dialTimeout = 2 * time.Second
	callTimeout = 2 * time.Second
)

// Dial reads a redis://, rediss:// or redis+cluster:// address (the last with addr=HOST:PORT for more nodes) and checks
// that the server answers.
func Dial(ctx context.Context, address string) (*Client, error) {
	client, err := newUniversal(address)
	if err != nil {
		return nil, err
	}
	c := &Client{redis: client, clock: NewClock(), instance: uuid.NewString(), errors: newErrorCounter()}
	client.AddHook(c.errors)
	if cluster, ok := client.(*redis.ClusterClient); ok {
		c.topology = followTopology(cluster)
	}
	if err := c.Ping(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("redis does not answer: %w", err), c.Disconnect())
	}
	return c, nil
}

func newUniversal(address string) (redis.UniversalClient, error) {
	if rest, ok := strings.CutPrefix(address, "redis+cluster://"); ok {
		opts, err := redis.ParseClusterURL("redis://" + rest)
		if err != nil {
			return nil, fmt.Errorf("redis address: %w", err)
		}
		opts.DialTimeout, opts.ReadTimeout, opts.WriteTimeout = dialTimeout, callTimeout, callTimeout
		opts.MaxRetries, opts.ContextTimeoutEnabled = -1, true
		// Do not dial a dead node again: a replica may have taken over, and callers retry with the new topology.
		opts.DialerRetries = 1
		return redis.NewClusterClient(opts), nil
	}
	opts, err := redis.ParseURL(address)
	if err != nil {
		return nil, fmt.Errorf("redis address: %w", err)
	}
	opts.DialTimeout, opts.ReadTimeout, opts.WriteTimeout = dialTimeout, callTimeout, callTimeout
	// After a lost reply the outcome is unknown, so the caller has to decide whether to repeat; the client never does.
	opts.MaxRetries, opts.ContextTimeoutEnabled = -1, true
	return redis.NewClient(opts), nil
}

// Instance is this process's name among all instances, a UUID made at the start.
func (c *Client) Instance() string { return c.instance }

// Clock is the estimate of Redis' clock.
func (c *Client) Clock() *Clock { return c.clock }

// Now is the estimate of Redis' clock.
func (c *Client) Now() game.Moment { return c.clock.Now() }

// Ping asks Redis for its time, which also sets the clock.
func (c *Client) Ping(ctx context.Context) error {
	asked := time.Now()
	at, err := c.redis.Time(ctx).Result()
	if err != nil {
		return err //nolint:wrapcheck // callers say what they asked for
	}
	c.clock.observe(asked, time.Now(), at.UnixMilli())
	return nil
}

// Disconnect ends all connections.
func (c *Client) Disconnect() error {
	if c.topology != nil {
		c.topology.close()
	}
	if err := c.redis.Close(); err != nil {
		return fmt.Errorf("close redis: %w", err)
	}
	return nil
}
