package settle

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff counts failures in a row.
type backoff int

const (
	firstDelay = 100 * time.Millisecond
	worstDelay = 5 * time.Second
)

// next is the delay after one more failure: doubling up to worstDelay, less a random part of up to half, so that settlers
// do not come back all at once.
func (b *backoff) next() time.Duration {
	delay := min(firstDelay<<min(int(*b), 10), worstDelay)
	*b++
	return (delay/2 + rand.N(delay/2+1)).Round(time.Millisecond)
}

// pause waits for the time or a nudge; false when ctx is done.
func pause(ctx context.Context, wait time.Duration, nudge <-chan struct{}) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-nudge:
	case <-timer.C:
	}
	return ctx.Err() == nil
}
