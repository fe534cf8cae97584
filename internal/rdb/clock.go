package rdb

import (
	"sync"
	"time"

	"redrain/internal/game"
)

// Clock estimates the time of Redis' clock, which alone decides whether a tap is early or late. It learns from replies that contain
// Redis' time, and uses the one with the shortest round trip of the last 30 s; a slower one replaces it only if it shows that the
// estimate is wrong. Between replies it advances by this machine's monotonic clock, so a step of the wall clock does not move it. Safe for concurrent use.
type Clock struct {
	mu     sync.RWMutex
	local  func() time.Time // only its monotonic reading counts
	at     time.Time        // local time of the sample in use, with its monotonic reading
	redis  time.Time        // Redis' time at that moment
	spread time.Duration    // half of the sample's round trip: the largest error
	seen   time.Time        // when the sample was received; zero before the first
}

const (
	sampleLifetime = 30 * time.Second
	// maxDrift is how far two clocks may drift apart within sampleLifetime, and how far nodes of a cluster may differ. A larger
	// difference (beyond both spreads) means that a clock was stepped, or that a machine was suspended.
	maxDrift = 100 * time.Millisecond
)

// NewClock returns a clock that agrees with this machine's until the first reply of Redis.
func NewClock() *Clock {
	now := time.Now()
	return &Clock{local: time.Now, at: now, redis: now.Round(0)}
}

// Now is the estimated time of Redis.
func (c *Clock) Now() game.Moment {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return game.Moment(c.redisTime(c.local()).UnixMilli())
}

// redisTime is the estimated time of Redis at a local time.
func (c *Clock) redisTime(moment time.Time) time.Time { return c.redis.Add(moment.Sub(c.at)) }

// Spread is how far the estimate may be off, in milliseconds, rounded up.
func (c *Clock) Spread() int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	const cut = time.Millisecond / 2 // Redis' time was cut to milliseconds
	return int64((c.spread + cut + time.Millisecond - 1) / time.Millisecond)
}

// observe takes one sample: a reply requested and received at these local times says that Redis' time is at, in ms.
func (c *Clock) observe(asked, received time.Time, at int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	spread := received.Sub(asked) / 2
	middle := asked.Add(spread)
	// at was cut to whole milliseconds, so on average half a millisecond is missing.
	redis := time.UnixMilli(at).Add(time.Millisecond / 2)
	stepped := redis.Sub(c.redisTime(middle)).Abs() > c.spread+spread+maxDrift
	if !c.seen.IsZero() && spread >= c.spread && received.Sub(c.seen) < sampleLifetime && !stepped {
		return
	}
	c.at, c.redis, c.spread, c.seen = middle, redis, spread, received
}
