package settle

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"redrain/internal/game"
	"redrain/internal/patience"
)

// Books are the rounds and their money in SQL. Every step may be repeated.
type Books interface {
	// UnsettledRounds are the begun rounds that are not settled, or whose keys still wait for their end.
	UnsettledRounds(ctx context.Context) ([]game.Round, error)
	// Account returns game.ErrNotFound where there is no such round, game.ErrWrongPhase for one that was never begun.
	Account(ctx context.Context, round string) (game.Account, error)
	// Book books entries in one transaction. game.ErrRefused: these it will never take.
	Book(ctx context.Context, round string, entries []game.Entry) (game.Booked, error)
	// BookPaced is Book for when taps matter more than how soon it is done.
	BookPaced(ctx context.Context, round string, entries []game.Entry) (game.Booked, error)
	ApplyRefund(ctx context.Context, round string) (game.RefundStep, error)
	// Interrupt makes the refund of a closed round without keys from what the ledger holds.
	Interrupt(ctx context.Context, round string) error
	// SumClaims counts and sums the claims with numbers above after and up to last.
	SumClaims(ctx context.Context, round string, after, last int) (game.Total, error)
	Escrow(ctx context.Context, round game.Round) (game.Cents, error)
	// Moved is what moved between a round's escrow and its host.
	Moved(ctx context.Context, round string) (game.Moved, error)
	NoteClosed(ctx context.Context, round string, reason game.CloseReason, claimed game.Total) (game.Round, error)
	NoteFrozen(ctx context.Context, round string, why game.FreezeReason) (game.Round, error)
	// NoteLost freezes a round of which Redis forgot claims up to a number, unless a host has excused that. first: it was not
	// frozen before.
	NoteLost(ctx context.Context, round string, number int) (lost game.Round, first bool, err error)
	NoteReleased(ctx context.Context, round string, mark *game.Watermark) (game.Round, error)
	NoteSettled(ctx context.Context, round string) (game.Round, error)
	NoteKeysExpiring(ctx context.Context, round string) error
	DeadLetters(ctx context.Context, round string) ([]game.DeadLetter, error)
	// ReplayDeadLetter books a dead letter that can be read by now, and notes that.
	ReplayDeadLetter(ctx context.Context, round string, entry game.Entry) (game.Booked, error)
	ReplayQuarantine(ctx context.Context, round string) (int, error)
}

// Outbox is the rounds in Redis as settlers see them. Methods return game.ErrGone where a round has no keys, game.ErrTorn where
// they do not fit together.
type Outbox interface {
	// Take takes entries that nobody was given, Retake those that were given to this process and not acknowledged.
	Take(ctx context.Context, round string, count int) ([]game.Entry, error)
	Retake(ctx context.Context, round, after string, count int) ([]game.Entry, error)
	// TakeOver takes what others were given at least idle ago; next is "0-0" at the end.
	TakeOver(ctx context.Context, round, from string, idle time.Duration, count int) (entries []game.Entry, next string, err error)
	Acknowledge(ctx context.Context, round string, entries ...string) error
	Raw(ctx context.Context, round, entry string) (string, error)
	ParseRaw(round, entry, raw string) game.Entry
	Watermark(ctx context.Context, round string) (game.Watermark, error)
	// Claims are those with a number above after, in their order.
	Claims(ctx context.Context, round string, after, limit int) ([]game.Claim, error)
	// SetFrozen brings the flag in Redis to what the round says, unless Redis has heard something newer.
	SetFrozen(ctx context.Context, round game.Round) error
	// CloseAgain closes a round that the ledger knows to be closed, and whose close Redis has lost.
	CloseAgain(ctx context.Context, round game.Round) error
	// Repair makes the keys anew that the round has lost, from those that it has, and returns their names.
	Repair(ctx context.Context, round game.Round) (restored []string, err error)
	Retire(ctx context.Context, round game.Round, lifetime time.Duration) error
	Dismiss(ctx context.Context, round string, silent time.Duration) (int, error)
	PublishNotice(ctx context.Context, room string, notice []byte) error
	// TellHosts gives a room's hosts alone the code of a notice.
	TellHosts(ctx context.Context, room, code string) error
	// Now estimates Redis' clock.
	Now() game.Moment
}

// Options say how settlers work. Zero values are what serve uses.
type Options struct {
	// Retention is how long the keys of a settled round stay; 24 h.
	Retention time.Duration
	// TakeOverAfter is how long an entry waits for whoever took it before another settler does; 15 s.
	TakeOverAfter time.Duration
	// DismissAfter is how long a settler with nothing pending may be silent before its name is removed; 10 min.
	DismissAfter time.Duration
	// WatchSettled is how long a settled round is looked after before nobody does any more: so much a Redis that syncs every second
	// may lose, the close of the round among it; 10 s. With Embedded it is nothing.
	WatchSettled time.Duration
	// AlarmBefore is how long before their expiry the keys of an unsettled round raise an alarm; 3 days.
	AlarmBefore time.Duration
	// Embedded says that Redis runs within this process: keys that are gone are gone for good, and nobody is asked.
	Embedded bool
	Log      *slog.Logger // nil: no log
}

func (o *Options) fill() {
	fill := func(d *time.Duration, usual time.Duration) {
		if *d == 0 {
			*d = usual
		}
	}
	fill(&o.Retention, 24*time.Hour)
	fill(&o.TakeOverAfter, 15*time.Second)
	fill(&o.DismissAfter, 10*time.Minute)
	fill(&o.AlarmBefore, 72*time.Hour)
	fill(&o.WatchSettled, 10*time.Second)
	if o.Embedded {
		o.WatchSettled = 0
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// Settler settles rounds. Safe for concurrent use, and beside others on the same Books and Outbox.
type Settler struct {
	books   Books
	outbox  Outbox
	options Options
	log     *slog.Logger
	counts  counts
	failing failures // by round, and "" for the list of them
	nudge   chan struct{}
	hurry   chan struct{} // closed by hasten
	hasten  func()
}

// New returns a settler; Run makes it work.
func New(books Books, outbox Outbox, options Options) *Settler {
	options.fill()
	hurry := make(chan struct{})
	return &Settler{
		books: books, outbox: outbox, options: options, log: options.Log, nudge: make(chan struct{}, 1),
		hurry: hurry, hasten: sync.OnceFunc(func() { close(hurry) }),
	}
}

const (
	// lookEvery is how long it can take until a new round is noticed without a nudge.
	lookEvery = 500 * time.Millisecond
	lookFor   = 5 * time.Second
	// worstDelay is how long what failed is left alone at most.
	worstDelay = 5 * time.Second
)

// Run settles every round there is, each in a goroutine of its own, until ctx is done; then it returns when what was under
// way is over. What fails is tried again after growing delays.
func (s *Settler) Run(ctx context.Context) {
	var attended sync.Map // ids of rounds that have a clerk
	var clerks sync.WaitGroup
	defer clerks.Wait()
	failures := patience.Backoff{Worst: worstDelay}
	for {
		wait := lookEvery
		rounds, err := s.listUnsettled(ctx)
		s.failing.note("", err != nil)
		if err != nil && ctx.Err() == nil {
			wait = failures.Next()
			s.log.Warn("cannot read which rounds are to be settled", "error", err, "again_in", wait)
		} else {
			failures.Reset()
			s.counts.unsettled.Store(int64(len(rounds)))
		}
		for _, round := range rounds {
			if _, already := attended.LoadOrStore(round.ID, true); already {
				continue
			}
			clerks.Go(func() {
				defer attended.Delete(round.ID)
				s.attend(ctx, round)
			})
		}
		if !patience.Pause(ctx, wait, s.nudge) {
			return
		}
	}
}

func (s *Settler) listUnsettled(ctx context.Context) ([]game.Round, error) {
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	return s.books.UnsettledRounds(ctx)
}

// Nudge makes Run look for rounds now.
func (s *Settler) Nudge() {
	select {
	case s.nudge <- struct{}{}:
	default:
	}
}
