package ledger

import (
	"context"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"redrain/internal/backoff"
)

const (
	// connectWithin bounds the making of a connection, unless DATABASE_URL says otherwise.
	connectWithin = 15 * time.Second
	// answerWithin bounds a statement, or a transaction, whose caller sets no bound.
	answerWithin = time.Minute
	// sayAfter is how long an instance waits for another before it says so, sayEvery how often it says so again.
	sayAfter = time.Second
	sayEvery = 10 * time.Second
)

// waits are how long one instance waits for others.
type waits struct {
	migration time.Duration
	lease     leaseTimes
}

// sayWhileWaiting logs what this instance waits for, again and again until stop.
func (l *Ledger) sayWhileWaiting(what string, args ...any) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	began := time.Now()
	var saying sync.WaitGroup
	saying.Go(func() {
		for pause := sayAfter; backoff.Sleep(ctx, pause, nil); pause = sayEvery {
			l.log.Info(what, append(args, "waited", time.Since(began).Round(time.Second))...)
		}
	})
	return func() { cancel(); saying.Wait() }
}

// bounded gives a context a deadline that has none.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, answerWithin)
}

// guard is asked before each statement. It bounds those whose callers do not; a transaction is bounded as a whole, by inTx. And
// it lets an instance that must be alone on the database change nothing while it cannot be sure that it is.
type guard struct {
	ledger *Ledger
	writes bool
}

type cancelKey struct{}

// BeforeQuery returns the context that the statement runs with.
func (g guard) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	if lease := g.ledger.lease.Load(); g.writes && lease != nil && !lease.held() {
		refused, cancel := context.WithCancelCause(ctx)
		cancel(errLeaseLost)
		return refused
	}
	if _, has := ctx.Deadline(); has || event.Query == "BEGIN" {
		return ctx
	}
	ctx, cancel := bounded(ctx)
	event.Stash = map[any]any{cancelKey{}: cancel}
	return ctx
}

// AfterQuery is called when the rows were read.
func (guard) AfterQuery(_ context.Context, event *bun.QueryEvent) {
	if cancel, ours := event.Stash[cancelKey{}].(context.CancelFunc); ours {
		cancel()
	}
}
