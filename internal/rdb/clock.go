package rdb

import (
	"sync"
	"time"

	"redrain/internal/game"
)

// Clock estimates Redis' clock, which alone decides what is early or late, from the replies of scripts. It believes the
// answer that travelled fastest of the last half minute, and a slower one as soon as that proves it wrong. Between answers
// it runs by this machine's monotonic clock: a step of the wall clock does not move it. Safe for concurrent use.
type Clock struct {
	mu     sync.RWMutex
	local  func() time.Time // only its monotonic reading counts
	at     time.Time        // a moment of local, with its monotonic reading …
	redis  time.Time        // … and what Redis' clock said in it
	spread time.Duration    // half of the round trip that this was learned in
	seen   time.Time        // when it was learned; zero before the first answer
}

const (
	believeFor = 30 * time.Second
	// driftMost is what two clocks may drift apart within believeFor, and nodes of a cluster may differ by. What differs by
	// more than that and both spreads was a step: of Redis' clock, or of a machine that was suspended.
	driftMost = 100 * time.Millisecond
)

// NewClock returns a clock that agrees with this machine's until it hears from Redis.
func NewClock() *Clock {
	now := time.Now()
	return &Clock{local: time.Now, at: now, redis: now.Round(0)}
}

// Now is the estimated time of Redis.
func (c *Clock) Now() game.Moment {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return game.Moment(c.when(c.local()).UnixMilli())
}

// when is Redis' time in a moment of local.
func (c *Clock) when(moment time.Time) time.Time { return c.redis.Add(moment.Sub(c.at)) }

// Spread is how far the estimate may be off, in milliseconds, rounded up.
func (c *Clock) Spread() int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	const cut = time.Millisecond / 2 // what is not known of the answer's fraction of a millisecond
	return int64((c.spread + cut + time.Millisecond - 1) / time.Millisecond)
}

// observe learns from one answer that was asked for and received at the given local times and says at, in Redis' ms.
func (c *Clock) observe(asked, received time.Time, at int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	spread := received.Sub(asked) / 2
	middle := asked.Add(spread)
	// at was cut to whole milliseconds: half of one is the fairest guess of the rest.
	redis := time.UnixMilli(at).Add(time.Millisecond / 2)
	stepped := redis.Sub(c.when(middle)).Abs() > c.spread+spread+driftMost
	if !c.seen.IsZero() && spread >= c.spread && received.Sub(c.seen) < believeFor && !stepped {
		return
	}
	c.at, c.redis, c.spread, c.seen = middle, redis, spread, received
}
