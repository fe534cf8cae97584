package settle

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"redrain/internal/backoff"
	"redrain/internal/game"
)

// Books is the rounds and their money in SQL. Every call may be repeated.
type Books interface {
	// Unsettled returns the rounds that have begun and are not settled, or whose keys have no final time to live yet.
	UnsettledRounds(ctx context.Context) ([]game.Round, error)
	// Account returns game.ErrNotFound if there is no such round, game.ErrWrongPhase if it has not begun.
	Account(ctx context.Context, round string) (game.Account, error)
	// Book books entries in one transaction. game.ErrRefused: repeating it cannot help.
	Book(ctx context.Context, round string, entries []game.Entry) (game.Booked, error)
	// BookPaced is Book for when taps matter more than how soon it is done.
	BookPaced(ctx context.Context, round string, entries []game.Entry) (game.Booked, error)
	ApplyRefund(ctx context.Context, round string) (game.RefundStep, error)
	// Interrupt makes the refund of a closed round whose keys are gone: the budget less the claims in the ledger.
	Interrupt(ctx context.Context, round string) error
	// SumClaims counts and sums the claims with numbers above after and up to last.
	SumClaims(ctx context.Context, round string, after, last int) (game.Total, error)
	Escrow(ctx context.Context, round game.Round) (game.Cents, error)
	// Moved sums the movements between a round's escrow and its host.
	Moved(ctx context.Context, round string) (game.Moved, error)
	NoteClosed(ctx context.Context, round string, reason game.CloseReason, claimed game.Total) (game.Round, error)
	NoteFrozen(ctx context.Context, round string, why game.FreezeReason) (game.Round, error)
	// NoteFault freezes a round, unless it was frozen or released since it was read. frozen: this call froze it.
	NoteFault(ctx context.Context, read game.Round, why game.FreezeReason) (round game.Round, frozen bool, err error)
	// NoteLost freezes a round of which Redis has lost claims with numbers up to number, unless the host has excused these. first:
	// this call froze it.
	NoteLost(ctx context.Context, round string, number int) (lost game.Round, first bool, err error)
	// NoteReleased ends the freeze; a closed round of which mark is nil is interrupted, too.
	NoteReleased(ctx context.Context, round string, mark *game.Watermark) (game.Round, error)
	NoteSettled(ctx context.Context, round string) (game.Round, error)
	NoteKeysExpiring(ctx context.Context, round string) error
	DeadLetters(ctx context.Context, round string) ([]game.DeadLetter, error)
	// ReplayDeadLetter books a dead letter that parses by now, and marks it as replayed. ReplayQuarantine books quarantined claims, and
	// returns how many.
	ReplayDeadLetter(ctx context.Context, round string, entry game.Entry) (game.Booked, error)
	ReplayQuarantine(ctx context.Context, round string) (int, error)
}

// Outbox is what settlers need of Redis. Methods return game.ErrGone if a round has no keys, game.ErrTorn if some are missing or
// contradict each other.
type Outbox interface {
	// ReadNew reads entries that were delivered to nobody yet; ReadPending those that were delivered to this process and not
	// acknowledged, from the first one after an entry.
	ReadNew(ctx context.Context, round string, count int) ([]game.Entry, error)
	ReadPending(ctx context.Context, round, after string, count int) ([]game.Entry, error)
	// ClaimStale takes over pending entries that were delivered to other processes at least idle ago; next is "0-0" at the end.
	ClaimStale(ctx context.Context, round, from string, idle time.Duration, count int) (entries []game.Entry, next string, err error)
	Acknowledge(ctx context.Context, round string, entries ...string) error
	ReadRaw(ctx context.Context, round, entry string) (string, error)
	ParseRaw(round, entry, raw string) game.Entry
	Watermark(ctx context.Context, round string) (game.Watermark, error)
	// Claims returns claims with numbers above after, in ascending order.
	Claims(ctx context.Context, round string, after, limit int) ([]game.Claim, error)
	// SetFrozen sets the frozen flag in Redis to the round's, unless Redis has a later version of it.
	SetFrozen(ctx context.Context, round game.Round) error
	// RepeatClose closes a round that is closed in the ledger, and whose close Redis has lost.
	RepeatClose(ctx context.Context, round game.Round) error
	// Repair restores missing keys of a round from those that are left, and returns their names.
	Repair(ctx context.Context, round game.Round) (restored []string, err error)
	ExpireKeys(ctx context.Context, round game.Round, lifetime time.Duration) error
	RemoveIdleConsumers(ctx context.Context, round string, silent time.Duration) (int, error)
	PublishNotice(ctx context.Context, room string, notice game.Notice) error
	// NotifyHosts sends the code of a notice to a room's hosts only.
	NotifyHosts(ctx context.Context, room string, code game.NoticeCode) error
	// Now is the estimated time of Redis' clock.
	Now() game.Moment
}

// Options of a settler. Zero values mean the defaults given here.
type Options struct {
	// Retention is how long the keys of a settled round stay; 24 h.
	Retention time.Duration
	// ClaimStaleAfter is how long an entry may be pending at one settler before another takes it over; 15 s.
	ClaimStaleAfter time.Duration
	// RemoveConsumersAfter is how long a settler with nothing pending may be idle before it is removed from the consumer group;
	// 10 min.
	RemoveConsumersAfter time.Duration
	// WatchSettledFor is for how long a settled round is watched, in case Redis loses its close; 10 s, since a Redis that syncs to
	// disk every second can lose about that much. With Embedded it is 0.
	WatchSettledFor time.Duration
	// ExpiryAlarmBefore is how long before the keys of an unsettled round expire an alarm is raised; 3 days.
	ExpiryAlarmBefore time.Duration
	// Embedded: Redis runs inside this process, so keys that are gone cannot be restored, and the round is settled without them.
	Embedded bool
	Log      *slog.Logger // nil: no log
}

func (o *Options) fill() {
	fill := func(d *time.Duration, standard time.Duration) {
		if *d == 0 {
			*d = standard
		}
	}
	fill(&o.Retention, 24*time.Hour)
	fill(&o.ClaimStaleAfter, 15*time.Second)
	fill(&o.RemoveConsumersAfter, 10*time.Minute)
	fill(&o.ExpiryAlarmBefore, 72*time.Hour)
	fill(&o.WatchSettledFor, 10*time.Second)
	if o.Embedded {
		o.WatchSettledFor = 0
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// Settler settles rounds. Safe for concurrent use, and beside others on the same Books and Outbox.
type Settler struct {
	books          Books
	outbox         Outbox
	options        Options
	log            *slog.Logger
	counts         counts
	failing        failureTimes // by round, and "" for listing the rounds
	wake           chan struct{}
	expedited      chan struct{} // closed by Expedite
	closeExpedited func()
}

// New returns a settler; Run starts it.
func New(books Books, outbox Outbox, options Options) *Settler {
	options.fill()
	expedited := make(chan struct{})
	return &Settler{
		books: books, outbox: outbox, options: options, log: options.Log, wake: make(chan struct{}, 1),
		expedited: expedited, closeExpedited: sync.OnceFunc(func() { close(expedited) }),
	}
}

const (
	// pollInterval is how often unsettled rounds are listed, if Wake is not called.
	pollInterval = 500 * time.Millisecond
	pollTimeout  = 5 * time.Second
	// maxRetryDelay is the longest pause after a failure.
	maxRetryDelay = 5 * time.Second
)

// Run settles all rounds, each with a worker in a goroutine of its own, until ctx is done and all workers have ended. What fails is
// retried with growing delays.
func (s *Settler) Run(ctx context.Context) {
	var active sync.Map // ids of rounds that have a worker
	var workers sync.WaitGroup
	defer workers.Wait()
	failures := backoff.Exponential{Max: maxRetryDelay}
	for {
		wait := pollInterval
		rounds, err := s.listUnsettled(ctx)
		s.failing.record("", err != nil)
		if err != nil && ctx.Err() == nil {
			wait = failures.Next()
			s.log.Warn("cannot read which rounds are to be settled", "error", err, "again_in", wait)
		} else {
			failures.Reset()
			s.counts.recordUnsettled(rounds)
		}
		for _, round := range rounds {
			if _, already := active.LoadOrStore(round.ID, true); already {
				continue
			}
			workers.Go(func() {
				defer active.Delete(round.ID)
				s.runWorker(ctx, round)
			})
		}
		if !backoff.Sleep(ctx, wait, s.wake) {
			return
		}
	}
}

// listUnsettled lists the rounds that need a worker.
func (s *Settler) listUnsettled(ctx context.Context) ([]game.Round, error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	return s.books.UnsettledRounds(ctx)
}

// Wake makes Run list unsettled rounds now.
func (s *Settler) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
