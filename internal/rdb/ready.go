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
	// readyLifetime is how long the trace of a check stays.
	readyLifetime = time.Minute
	// probeEvery and probeWithin make a probe at least every five seconds, however Redis hangs.
	probeEvery  = 2 * time.Second
	probeWithin = 2 * time.Second
	// probeGood is how long a probe's result counts.
	probeGood = 5 * time.Second
)

// probed is what the last probe came to.
type probed struct {
	mu    sync.Mutex // guards what follows
	at    time.Time  // zero before the first probe has ended
	took  time.Duration
	err   error
	first chan struct{} // closed when the first probe has ended
	// keys are by master of a cluster the one that it is asked to write. Of the probing goroutine alone.
	keys map[string]string
}

// KeepProbing proves until ctx is done, every two seconds, that Redis takes a write and tells its time: every master of a
// cluster. One that only answers is not enough to play: it may be out of memory, unable to store, or a replica, and then
// every grab is refused. It also keeps the clock right where nothing is played.
func (c *Client) KeepProbing(ctx context.Context, log *slog.Logger) {
	ticker := time.NewTicker(probeEvery)
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
		c.probed.note(began, err)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// CheckReady is nil when the last probe by KeepProbing went well. At first it waits for one, until ctx ends. It asks Redis nothing.
func (c *Client) CheckReady(ctx context.Context) error {
	select {
	case <-c.probed.first:
	case <-ctx.Done():
	}
	p := &c.probed
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.IsZero() {
		return errors.New("is not known to take writes yet")
	}
	if age := time.Since(p.at); age > probeGood {
		return fmt.Errorf("is not known to take writes for %.0f s", age.Seconds())
	}
	return p.err
}

// ProbeTook is how long the last probe took.
func (c *Client) ProbeTook() time.Duration {
	c.probed.mu.Lock()
	defer c.probed.mu.Unlock()
	return c.probed.took
}

func (p *probed) note(began time.Time, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.IsZero() {
		close(p.first)
	}
	p.at = time.Now()
	p.took, p.err = p.at.Sub(began), err
}

func (c *Client) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	if c.topology == nil {
		return c.probeServer(ctx, c.redis, readyKey(c.instance))
	}
	masters, err := c.topology.masters(ctx)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	c.probed.keys = c.topology.spread(ctx, masters, c.probed.keys, func(n int) string { return readyKey(c.instance + ":" + strconv.Itoa(n)) })
	problems := make([]error, len(masters))
	var probes sync.WaitGroup
	for i, master := range masters {
		addr := master.Options().Addr
		probes.Go(func() {
			if err := c.probeServer(ctx, master, c.probed.keys[addr]); err != nil {
				c.topology.note(err)
				problems[i] = fmt.Errorf("%s %w", addr, err)
			}
		})
	}
	probes.Wait()
	return inOneLine(problems)
}

// inOneLine joins errors, for a reason that is told in one line.
func inOneLine(problems []error) (joined error) {
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

// probeServer does it all in one round trip. Without a key, where a node has too few slots to find one, it only asks for the time.
func (c *Client) probeServer(ctx context.Context, server redis.Cmdable, key string) error {
	asked := time.Now()
	pipe := server.Pipeline()
	written := new(redis.StatusCmd)
	if key != "" {
		written = pipe.Set(ctx, key, 1, readyLifetime)
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
