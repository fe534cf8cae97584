// Package payout tells the host's own balance system what players have won, in the form of Standard Webhooks
// (https://www.standardwebhooks.com): one signed POST for each payout.
//
// Invariants kept here:
//
//   - A payout keeps one id. After a lost response, a crash, or because of a second worker, it is sent again under that id, by which
//     the receiver recognizes it and credits nobody twice.
//   - A payout is paid once the receiver has responded with 2xx, and not before. Any other outcome, a timeout too, means unknown: it
//     is sent again with growing delays for a day; then it waits for the host.
//   - Requests go only to the address that the host configured: no redirects, no proxies, plain http only to this machine, and never
//     to special addresses, such as link-local ones, where clouds serve credentials. Addresses are checked at the start, and again
//     for every connection, since a name may resolve to another address by then.
package payout

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"redrain/internal/backoff"
	"redrain/internal/game"
)

// Books is the payouts in SQL. Every step may be repeated.
type Books interface {
	// MakePayouts creates some of the planned payouts, and returns how many; 0: there are no more.
	MakePayouts(ctx context.Context) (int, error)
	// LeasePayouts leases up to count due payouts to the caller; when the lease expires they are due again.
	LeasePayouts(ctx context.Context, count int, lease time.Duration) ([]game.Payout, error)
	// NotePaid moves the money, once.
	NotePaid(ctx context.Context, payout game.Payout) error
	// PostponePayout makes a payout due again after a delay; FailPayout leaves it to the host.
	PostponePayout(ctx context.Context, payout game.Payout, problem string, delay time.Duration) error
	FailPayout(ctx context.Context, payout game.Payout, problem string) error
}

const (
	// postConcurrency is how many payouts a sender posts at a time, leaseBatch how many it leases at once.
	postConcurrency = 8
	leaseBatch      = 32
	// idlePause is how long a sender waits if nothing is due.
	idlePause = 500 * time.Millisecond
	// noteTimeout bounds one call to Books.
	noteTimeout = 5 * time.Second

	initialDelay = 5 * time.Second
	maxDelay     = 2 * time.Hour
	giveUpAfter  = 24 * time.Hour // from the first attempt
)

// Options of a sender. Target and Secret are required; zero values of the others mean the defaults given here.
type Options struct {
	Target Target
	Secret Secret
	// Timeout bounds one POST with its response; 5 s.
	Timeout time.Duration
	// Lease is how long a payout is leased to a sender; 60 s. It must be longer than the timeouts of all POSTs that a sender
	// makes one after the other for one batch.
	Lease time.Duration
	Now   func() time.Time // nil: time.Now
	Log   *slog.Logger     // nil: no log
}

func (o *Options) fill() {
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Second
	}
	if o.Lease == 0 {
		o.Lease = time.Minute
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// Counts are totals since the sender was created.
type Counts struct{ Paid, PutOff, GivenUp int64 }

// Sender posts payouts that are due. Safe for concurrent use, and beside others on the same Books.
type Sender struct {
	books   Books
	options Options
	log     *slog.Logger
	client  *http.Client

	paid, putOff, givenUp atomic.Int64
}

// New returns a sender; Run makes it work.
func New(books Books, options Options) *Sender {
	options.fill()
	return &Sender{books: books, options: options, log: options.Log, client: options.Target.client(options.Timeout)}
}

// Counts reads the counters.
func (s *Sender) Counts() Counts {
	return Counts{s.paid.Load(), s.putOff.Load(), s.givenUp.Load()}
}

// Run sends due payouts until ctx is done and the POSTs under way have ended.
func (s *Sender) Run(ctx context.Context) {
	defer s.client.CloseIdleConnections()
	for failures := 0; ctx.Err() == nil; {
		sent, err := s.SendDue(ctx)
		wait := idlePause
		switch {
		case err != nil && ctx.Err() == nil:
			wait = backoff.Delay(failures, time.Second, 30*time.Second)
			failures++
			s.log.Warn("cannot send payouts", "error", err, "again_in", wait)
		case sent > 0:
			failures, wait = 0, 0
		default:
			failures = 0
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// SendDue creates or sends some due payouts, and returns how many; 0: none is due. If the receiver accepts none of them that is an
// error, so that Run leaves it alone for a while.
func (s *Sender) SendDue(ctx context.Context) (int, error) {
	due, err := s.books.LeasePayouts(ctx, leaseBatch, s.options.Lease)
	if err != nil {
		return 0, err //nolint:wrapcheck // says itself what it could not do
	}
	if len(due) == 0 {
		return s.books.MakePayouts(ctx)
	}
	failed := make([]error, len(due))
	var senders sync.WaitGroup
	slots := make(chan struct{}, postConcurrency)
	for i, payout := range due {
		slots <- struct{}{}
		senders.Go(func() {
			defer func() { <-slots }()
			failed[i] = s.send(ctx, payout)
		})
	}
	senders.Wait()
	if !slices.Contains(failed, nil) {
		return len(due), fmt.Errorf("none of %d payouts was taken: %w", len(due), failed[0])
	}
	return len(due), nil
}

// send posts one payout and records the outcome. The outcome of a POST is recorded even if ctx ends
// meanwhile; if ctx has ended before, the payout is left to the next sender. If recording fails, the payout is due again after its
// lease, as after a crash. It returns why the payout was not paid.
func (s *Sender) send(ctx context.Context, payout game.Payout) (failed error) {
	after := context.WithoutCancel(ctx)
	note := func(ctx context.Context) error { return s.books.PostponePayout(ctx, payout, payout.Problem, 0) }
	if failed = ctx.Err(); failed == nil {
		failed = s.post(after, payout)
		note = s.decideOutcome(payout, failed)
	}
	noting, cancel := context.WithTimeout(after, noteTimeout)
	defer cancel()
	if err := note(noting); err != nil {
		s.log.Warn("cannot note what became of a payout", "payout", payout.ID(), "error", err)
	}
	return failed
}

// decideOutcome returns the call to Books that records the outcome of a POST: paid, put off, or given up.
func (s *Sender) decideOutcome(payout game.Payout, failed error) func(context.Context) error {
	if failed == nil {
		s.paid.Add(1)
		return func(ctx context.Context) error { return s.books.NotePaid(ctx, payout) }
	}
	problem, again := failed.Error(), backoff.Delay(payout.Attempts-1, initialDelay, maxDelay)
	if end := time.UnixMilli(int64(payout.TriedAt)).Add(giveUpAfter); s.options.Now().Add(again).After(end) {
		s.givenUp.Add(1)
		s.log.Error("a payout is given up", "payout", payout.ID(), "cents", int64(payout.Total.Cents), "attempts", payout.Attempts, "problem", problem)
		return func(ctx context.Context) error { return s.books.FailPayout(ctx, payout, problem) }
	}
	s.putOff.Add(1)
	s.log.Debug("a payout is put off", "payout", payout.ID(), "attempts", payout.Attempts, "problem", problem, "again_in", again.Round(time.Second))
	return func(ctx context.Context) error { return s.books.PostponePayout(ctx, payout, problem, again) }
}
