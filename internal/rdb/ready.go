package rdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// probeKeyLifetime is the time to live of the key that a probe writes.
	probeKeyLifetime = time.Minute
	// With these a probe ends at least every 4 s, even if Redis hangs.
	probeInterval = 2 * time.Second
	probeTimeout  = 2 * time.Second
	// probeMaxAge is how long the result of a probe counts.
	probeMaxAge = 5 * time.Second
)

// probeResult is the outcome of the last probe.
type probeResult struct {
	mu      sync.Mutex // guards what follows
	at      time.Time  // zero before the first probe has ended
	latency time.Duration
	err     error
	first   chan struct{} // closed when the first probe has ended
	// keyByMaster has for each master of a cluster, by address, a key in one of its slots. Only for the probing goroutine.
	keyByMaster map[string]string
}

// KeepProbing checks every two seconds, until ctx is done, that Redis takes a write and returns its time; in a cluster, that every
// master does. A Redis that only answers a PING may still refuse every grab: it may be out of memory, unable to save, or a replica.
// The probes also keep the clock accurate while nothing is played.
func (c *Client) KeepProbing(ctx context.Context, log *slog.Logger) {
	ticker := time.NewTicker(probeInterval)
	defer ticker.Stop()
	for failing := false; ; {
		began := time.Now()
		err := c.probe(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !failing {
			log.Warn("redis is not ready", "error", err)
		} else if err == nil && failing {
			log.Info("redis is ready again")
		}
		failing = err != nil
		c.lastProbe.record(began, err)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// CheckReady returns nil if the last probe of KeepProbing succeeded. Before the first has ended it waits for it, until ctx is done. It
// does not call Redis.
func (c *Client) CheckReady(ctx context.Context) error {
	select {
	case <-c.lastProbe.first:
	case <-ctx.Done():
	}
	p := &c.lastProbe
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.IsZero() {
		return errors.New("is not known to take writes yet")
	}
	if age := time.Since(p.at); age > probeMaxAge {
		return fmt.Errorf("is not known to take writes for %.0f s", age.Seconds())
	}
	return p.err
}

// ProbeLatency is how long the last probe took.
func (c *Client) ProbeLatency() time.Duration {
	c.lastProbe.mu.Lock()
	defer c.lastProbe.mu.Unlock()
	return c.lastProbe.latency
}

func (p *probeResult) record(began time.Time, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.IsZero() {
		close(p.first)
	}
	p.at = time.Now()
	p.latency, p.err = p.at.Sub(began), err
}

func (c *Client) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if c.topology == nil {
		return c.probeServer(ctx, c.redis, readyKey(c.instance))
	}
	masters, err := c.topology.masters(ctx)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	c.lastProbe.keyByMaster = c.topology.assignKeys(ctx, masters, c.lastProbe.keyByMaster, func(n int) string { return readyKey(c.instance + ":" + strconv.Itoa(n)) })
	problems := make([]error, len(masters))
	var probes sync.WaitGroup
	for i, master := range masters {
		addr := master.Options().Addr
		probes.Go(func() {
			if err := c.probeServer(ctx, master, c.lastProbe.keyByMaster[addr]); err != nil {
				c.topology.noteError(err)
				problems[i] = fmt.Errorf("%s %w", addr, err)
			}
		})
	}
	probes.Wait()
	return joinErrors(problems)
}

// joinErrors joins errors in one line.
func joinErrors(problems []error) (joined error) {
	for _, problem := range problems {
		switch {
		case problem == nil:
		case joined == nil:
			joined = problem
		default:
			joined = fmt.Errorf("%w; %w", joined, problem)
		}
	}
	return joined
}

// probeServer probes one server in one round trip. With an empty key, if none was found in the node's slots, it only reads the time.
func (c *Client) probeServer(ctx context.Context, server redis.Cmdable, key string) error {
	asked := time.Now()
	pipe := server.Pipeline()
	written := new(redis.StatusCmd)
	if key != "" {
		written = pipe.Set(ctx, key, 1, probeKeyLifetime)
	}
	at := pipe.Time(ctx)
	_, _ = pipe.Exec(ctx) // each command has its own error
	if err := at.Err(); err != nil {
		return fmt.Errorf("does not tell its time: %w", err)
	}
	c.clock.observe(asked, time.Now(), at.Val().UnixMilli())
	if err := written.Err(); err != nil {
		return fmt.Errorf("takes no writes: %w", err)
	}
	return nil
}
