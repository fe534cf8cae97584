// Package patience is how the house waits for what is away: delays that grow and differ, and pauses that can end early.
package patience

import (
	"context"
	"math/rand/v2"
	"time"
)

// Delay doubles from first to worst with every failure before this one, less a random part of up to half, so that those who
// wait for the same thing do not come back all at once.
func Delay(failures int, first, worst time.Duration) time.Duration {
	const mostDoublings = 20 // of a second that is twelve days; it keeps the shift from running over
	delay := min(first<<min(failures, mostDoublings), worst)
	return delay/2 + rand.N(delay/2+1)
}

// Backoff counts failures in a row of something that is tried for ever. It is used by one goroutine.
type Backoff struct {
	Worst    time.Duration // that a delay may be
	failures int
}

const firstDelay = 100 * time.Millisecond

// Next is the delay after one more failure, in whole milliseconds: it grows from 100 ms.
func (b *Backoff) Next() time.Duration {
	delay := Delay(b.failures, firstDelay, b.Worst)
	b.failures++
	return delay.Round(time.Millisecond)
}

// Reset notes a success.
func (b *Backoff) Reset() { b.failures = 0 }

// Pause waits for the time or a nudge (nil: there is none); false when ctx is done.
func Pause(ctx context.Context, wait time.Duration, nudge <-chan struct{}) bool {
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
