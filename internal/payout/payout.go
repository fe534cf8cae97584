// Package payout tells the host's own balance system what players have won, in the form of Standard Webhooks
// (https://www.standardwebhooks.com): one signed POST for each payout.
//
// What holds here:
//
//   - A payout has one id for ever. A lost answer, a second worker or a crash make it be sent again under that id, and the
//     receiver, who knows it, credits nobody twice.
//   - A payout is paid once the receiver has said 2xx, and not before. Anything else, silence too, means unknown: it is sent
//     again, with growing delays, until a day has passed; then it waits for the host.
//   - Posts go where the host wanted them, and nowhere else: no redirects, no proxies, no plain http but within this machine,
//     and never to link-local addresses, where clouds keep their secrets. Addresses are checked at the start and again at
//     every connection, whatever a name has come to mean since.
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

// Books are the payouts in SQL. Every step may be repeated.
type Books interface {
	// MakePayouts makes some of those that are planned; 0: there are no more.
	MakePayouts(ctx context.Context) (int, error)
	// LeasePayouts gives up to count that are due to the caller alone; after the lease they are due again.
	LeasePayouts(ctx context.Context, count int, lease time.Duration) ([]game.Payout, error)
	// NotePaid moves the money, once.
	NotePaid(ctx context.Context, payout game.Payout) error
	// PostponePayout makes a payout due again after a delay; FailPayout leaves it to the host.
	PostponePayout(ctx context.Context, payout game.Payout, problem string, delay time.Duration) error
	FailPayout(ctx context.Context, payout game.Payout, problem string) error
}

const (
	// atOnce is how many payouts one sender posts beside each other, leased how many it takes at a time.
	atOnce = 8
	leased = 32
	// idle is how long a sender waits when nothing is due.
	idle = 500 * time.Millisecond
	// noteFor bounds one step in the books.
	noteFor = 5 * time.Second

	firstDelay = 5 * time.Second
	worstDelay = 2 * time.Hour
	giveUpTime = 24 * time.Hour // from the first attempt
)

// Options say how a sender works. Zero values are what serve uses; Target and Secret are needed.
type Options struct {
	Target Target
	Secret Secret
	// Timeout bounds one POST, with its answer; 5 s.
	Timeout time.Duration
	// Lease is how long a payout is left to a sender that does not say what became of it; 60 s. It must be longer than the
	// timeouts of all posts that a sender makes one after the other.
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

// Counts are what a sender has done since it was made.
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

// Run sends what is due until ctx is done; then it returns when the posts under way are over.
func (s *Sender) Run(ctx context.Context) {
	defer s.client.CloseIdleConnections()
	for failures := 0; ctx.Err() == nil; {
		sent, err := s.SendDue(ctx)
		wait := idle
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

// SendDue makes and sends some of what is due, and returns how much that was; 0: nothing is. When the receiver takes none of
// it that is an error too: it is better left alone for a while.
func (s *Sender) SendDue(ctx context.Context) (int, error) {
	due, err := s.books.LeasePayouts(ctx, leased, s.options.Lease)
	if err != nil {
		return 0, err //nolint:wrapcheck // says itself what it could not do
	}
	if len(due) == 0 {
		return s.books.MakePayouts(ctx)
	}
	failed := make([]error, len(due))
	var senders sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for i, payout := range due {
		places <- struct{}{}
		senders.Go(func() {
			defer func() { <-places }()
			failed[i] = s.send(ctx, payout)
		})
	}
	senders.Wait()
	if !slices.Contains(failed, nil) {
		return len(due), fmt.Errorf("none of %d payouts was taken: %w", len(due), failed[0])
	}
	return len(due), nil
}

// send posts one payout and notes what became of it. What was posted is noted also when ctx has ended; what was not posted
// before that is left to the next sender. A note that fails is as good as a crash: the payout is due again after its lease.
// It returns why it was not paid.
func (s *Sender) send(ctx context.Context, payout game.Payout) (failed error) {
	after := context.WithoutCancel(ctx)
	note := func(ctx context.Context) error { return s.books.PostponePayout(ctx, payout, payout.Problem, 0) }
	if failed = ctx.Err(); failed == nil {
		failed = s.post(after, payout)
		note = s.verdict(payout, failed)
	}
	noting, cancel := context.WithTimeout(after, noteFor)
	defer cancel()
	if err := note(noting); err != nil {
		s.log.Warn("cannot note what became of a payout", "payout", payout.ID(), "error", err)
	}
	return failed
}

// verdict is what is to be noted of a payout that was posted.
func (s *Sender) verdict(payout game.Payout, failed error) func(context.Context) error {
	if failed == nil {
		s.paid.Add(1)
		return func(ctx context.Context) error { return s.books.NotePaid(ctx, payout) }
	}
	problem, again := failed.Error(), backoff.Delay(payout.Attempts-1, firstDelay, worstDelay)
	if end := time.UnixMilli(int64(payout.TriedAt)).Add(giveUpTime); s.options.Now().Add(again).After(end) {
		s.givenUp.Add(1)
		s.log.Error("a payout is given up", "payout", payout.ID(), "cents", int64(payout.Total.Cents), "attempts", payout.Attempts, "problem", problem)
		return func(ctx context.Context) error { return s.books.FailPayout(ctx, payout, problem) }
	}
	s.putOff.Add(1)
	s.log.Debug("a payout is put off", "payout", payout.ID(), "attempts", payout.Attempts, "problem", problem, "again_in", again.Round(time.Second))
	return func(ctx context.Context) error { return s.books.PostponePayout(ctx, payout, problem, again) }
}
