package ledger

import (
	"context"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"redrain/internal/backoff"
)

const (
	// connectTimeout bounds opening a connection, unless DATABASE_URL has a timeout of its own.
	connectTimeout = 15 * time.Second
	// defaultTimeout bounds a statement, or a transaction, whose context has no deadline.
	defaultTimeout = time.Minute
	// firstWaitLog is how long an instance waits for another before it logs that, waitLogInterval how often it logs that again.
	firstWaitLog    = time.Second
	waitLogInterval = 10 * time.Second
)

// timeouts are how long this instance waits for others.
type timeouts struct {
	migration time.Duration
	lease     leaseTimes
}

// logWhileWaiting logs what this instance waits for, again and again until stop is called.
func (l *Ledger) logWhileWaiting(what string, args ...any) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	began := time.Now()
	var logging sync.WaitGroup
	logging.Go(func() {
		for pause := firstWaitLog; backoff.Sleep(ctx, pause, nil); pause = waitLogInterval {
			l.log.Info(what, append(args, "waited", time.Since(began).Round(time.Second))...)
		}
	})
	return func() { cancel(); logging.Wait() }
}

// withDefaultTimeout gives a context a deadline if it has none.
func withDefaultTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, defaultTimeout)
}

// queryHook runs before each statement, as a bun.QueryHook. It gives statements outside of transactions a timeout if their callers
// set none (inTx does so for a transaction as a whole). And on the write pool it refuses every statement while this instance
// should hold the exclusive lease but cannot be sure that it still does.
type queryHook struct {
	ledger *Ledger
	writes bool
}

type cancelKey struct{}

// BeforeQuery returns the context that the statement runs with.
func (h queryHook) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	if lease := h.ledger.lease.Load(); h.writes && lease != nil && !lease.trusted() {
		refused, cancel := context.WithCancelCause(ctx)
		cancel(errLeaseExpired)
		return refused
	}
	if _, has := ctx.Deadline(); has || event.Query == "BEGIN" {
		return ctx
	}
	ctx, cancel := withDefaultTimeout(ctx)
	event.Stash = map[any]any{cancelKey{}: cancel}
	return ctx
}

// AfterQuery is called when the rows were read. It releases the timer of the timeout.
func (queryHook) AfterQuery(_ context.Context, event *bun.QueryEvent) {
	if cancel, ours := event.Stash[cancelKey{}].(context.CancelFunc); ours {
		cancel()
	}
}
