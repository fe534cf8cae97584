package rdb

import (
	"sync"
	"time"

	"redrain/internal/game"
)

// Clock estimates Redis' clock, which alone decides what is early or late, from the replies of scripts. It believes the
// answer that travelled fastest of the last half minute. Safe for concurrent use.
type Clock struct {
	mu     sync.RWMutex
	offset time.Duration // Redis' time minus ours
	spread time.Duration // half of the round trip that the offset was learned in
	seen   time.Time
	local  func() time.Time
}

const believeFor = 30 * time.Second

// NewClock returns a clock that agrees with this machine's until it hears from Redis.
func NewClock() *Clock { return &Clock{local: time.Now} }

// Now is the estimated time of Redis.
func (c *Clock) Now() game.Moment {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return game.Moment(c.local().Add(c.offset).UnixMilli())
}

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
	if spread >= c.spread && received.Sub(c.seen) < believeFor && !c.seen.IsZero() {
		return
	}
	// at was cut to whole milliseconds: half of one is the fairest guess of the rest.
	redisTime := time.UnixMilli(at).Add(time.Millisecond / 2)
	c.offset, c.spread, c.seen = redisTime.Sub(asked.Add(spread)), spread, received
}
