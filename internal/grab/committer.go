// Package grab commits taps in groups: whatever waits when a script call ends goes out in the next one. There is no timer,
// so one tap alone goes at once and a storm goes in large batches.
//
// Invariant 4 is what makes a retry safe: a won tap repeated has its first result. A timeout means unknown, so the same taps
// are tried again until their deadline, and a duplicate whose claim this very batch was granted is this tap's own win. A refusal that
// passes, as in a failover, is tried again too, but nothing was done: after it a duplicate is one.
package grab

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"redrain/internal/game"
)

// Script is the atomic grab: an answer for each tap, in order. An error that wraps game.ErrRefused, game.ErrGone or
// game.ErrTorn says that nothing was done, with game.ErrTryAgain for a reason that passes; any other that the result is unknown.
// It never repeats by itself what may have been done.
type Script interface {
	Grab(ctx context.Context, room, round, batch string, taps []game.Tap) (game.Grabbed, error)
	// NewBatch names a batch; all tries of it go by that name.
	NewBatch() string
	// GrantedIn returns the batch that granted a claim, empty where nobody knows any more, and the numbers of the claims that it
	// granted.
	GrantedIn(ctx context.Context, round string, number int) (batch string, first, last int, err error)
}

// Options are a Committer's limits. Zero values take the defaults.
type Options struct {
	// Batch is the most taps in one call, 256 by default, which is also the script's limit.
	Batch int
	// Queue is the most taps that wait for one round, 8,192 by default; more are refused as busy.
	Queue int
	// Senders is how many calls of one round may be under way at once, 2 by default: while Redis works on one batch the
	// next travels.
	Senders int
	// Deadline is how long a tap may stay unanswered, 3 s by default; then it hears busy, which means unknown.
	Deadline time.Duration
	// Grabbed hears of every batch that came through, before its taps do. It must not block.
	Grabbed func(room, round string, grabbed game.Grabbed)
	// Answered observes how long a tap waited for the answer of the script, in seconds; nil: nobody does.
	Answered prometheus.Observer
	Log      *slog.Logger
}

// Committer queues taps by round and sends them in groups. It is safe for concurrent use.
type Committer struct {
	script  Script
	opts    Options
	metrics *metrics
	// ending is cancelled when a Close runs out of time: calls under way are given up.
	ending  context.Context //nolint:containedctx // the lifetime of the senders, which no caller's context bounds
	giveUp  context.CancelFunc
	senders sync.WaitGroup

	mu     sync.Mutex
	queues map[string]*queue // of rounds with waiting taps or calls under way
	closed bool
}

type queue struct {
	room, round string
	waiting     []queuedTap
	senders     int
}

type queuedTap struct {
	tap     game.Tap
	handler game.AnswerHandler
	since   time.Time
}

// New returns a Committer over a script.
func New(script Script, opts Options) *Committer {
	setDefault(&opts.Batch, 256)
	setDefault(&opts.Queue, 8192)
	setDefault(&opts.Senders, 2)
	setDefault(&opts.Deadline, 3*time.Second)
	if opts.Grabbed == nil {
		opts.Grabbed = func(string, string, game.Grabbed) {}
	}
	if opts.Answered == nil {
		opts.Answered = prometheus.ObserverFunc(func(float64) {})
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	c := &Committer{script: script, opts: opts, metrics: newMetrics(), queues: make(map[string]*queue)}
	c.ending, c.giveUp = context.WithCancel(context.Background())
	return c
}

func setDefault[T int | time.Duration](option *T, value T) {
	if *option == 0 {
		*option = value
	}
}

// Submit queues a tap; handler receives the answer exactly once. It returns false, and handler receives nothing, when the round's
// queue is full or the Committer is closed.
func (c *Committer) Submit(room, round string, tap game.Tap, handler game.AnswerHandler) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	q := c.queues[round]
	if q == nil {
		q = &queue{room: room, round: round}
		c.queues[round] = q
	}
	if len(q.waiting) >= c.opts.Queue {
		c.metrics.unanswered[queueFull].Inc()
		return false
	}
	q.waiting = append(q.waiting, queuedTap{tap: tap, handler: handler, since: time.Now()})
	if q.senders < c.opts.Senders {
		q.senders++
		c.senders.Go(func() { c.send(q) })
	}
	return true
}

// Close refuses new taps and waits until those that wait have their answers. If ctx ends first, calls under way are given
// up and the rest hears busy.
func (c *Committer) Close(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	drained := make(chan struct{})
	go func() {
		c.senders.Wait()
		close(drained)
	}()
	defer c.giveUp()
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
		c.giveUp()
		<-drained
		return context.Cause(ctx)
	}
}

// take removes up to a batch of what waits. With nothing left it ends the sender that asks, in the same moment, so no tap
// is left behind.
func (c *Committer) take(q *queue, batch []queuedTap) []queuedTap {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(q.waiting), c.opts.Batch)
	batch = append(batch[:0], q.waiting[:n]...)
	rest := copy(q.waiting, q.waiting[n:])
	clear(q.waiting[rest:])
	q.waiting = q.waiting[:rest]
	if n == 0 {
		q.senders--
		if q.senders == 0 {
			delete(c.queues, q.round)
		}
	}
	return batch
}
