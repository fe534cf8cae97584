package rdb

import (
	"context"
	"fmt"
	"time"
)

// readyLifetime is how long the trace of a check stays.
const readyLifetime = time.Minute

// CheckWrites is nil when Redis takes a write. One that only answers is not enough to play: it may be out of memory, unable
// to store, or a replica, and then every grab is refused.
func (c *Client) CheckWrites(ctx context.Context) error {
	if err := c.redis.Set(ctx, readyKey(c.instance), 1, readyLifetime).Err(); err != nil {
		return fmt.Errorf("takes no writes: %w", err)
	}
	return nil
}
