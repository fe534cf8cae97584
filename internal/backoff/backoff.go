// Package backoff gives the delays between retries, and a sleep that a context or another goroutine can cut short.
//
// It is used wherever something is retried for as long as the process lives: the database, Redis, webhooks. In 50 lines it
// gives exponential growth with a limit, jitter of up to half of the delay, a counter that a success resets, and the sleep.
// A library would add none of this but its own retry loop, which none of the callers has use for: each does other work in
// between.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Delay is how long to wait after a number of failures that came before the present one: initial, doubled with each of them,
// limit at most. A random part of up to half is taken off, so that clients of the same server do not all return at once.
func Delay(failures int, initial, limit time.Duration) time.Duration {
	const maxDoublings = 20 // of one second that is twelve days; more could overflow the shift
	delay := min(initial<<min(failures, maxDoublings), limit)
	return delay/2 + rand.N(delay/2+1)
}

// Exponential counts consecutive failures of something that is retried without end. Not safe for concurrent use.
type Exponential struct {
	Max      time.Duration // limit of a delay
	failures int
}

const initialDelay = 100 * time.Millisecond

// Next counts a failure and returns the delay before the next try, in whole milliseconds. The first is 100 ms at most.
func (b *Exponential) Next() time.Duration {
	delay := Delay(b.failures, initialDelay, b.Max)
	b.failures++
	return delay.Round(time.Millisecond)
}

// Reset makes delays short again, after a success.
func (b *Exponential) Reset() { b.failures = 0 }

// Sleep returns after the duration, or earlier when something arrives on wake (which may be nil). It returns false if ctx is
// done.
func Sleep(ctx context.Context, duration time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-wake:
	case <-timer.C:
	}
	return ctx.Err() == nil
}
