package rounds

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"redrain/internal/game"
)

// Books is the rounds in SQL. Every step returns the round as it is afterwards, and changes nothing when repeated.
type Books interface {
	// CreateRound makes a draft; game.ErrNotFound when there is no such room.
	CreateRound(ctx context.Context, room string, settings game.Settings, rehearsal bool) (game.Round, error)
	// Round returns game.ErrNotFound when there is none.
	Round(ctx context.Context, id string) (game.Round, error)
	// OpenRounds are all rounds in countdown or raining, frozen ones too.
	OpenRounds(ctx context.Context) ([]game.Round, error)
	// DueRounds are the drafts that were to start by themselves at now or before.
	DueRounds(ctx context.Context, now game.Moment) ([]game.Round, error)
	// Begin makes a draft the active round of its room; repeated, the secret of the first Begin stays. game.ErrRoomBusy, game.ErrWrongPhase.
	Begin(ctx context.Context, id string, secret game.Secret) (game.Round, error)
	// BeginPlanned is Begin if the draft is still planned for this moment, else game.ErrWrongPhase.
	BeginPlanned(ctx context.Context, id string, secret game.Secret, on game.Moment) (game.Round, error)
	// NoteMissed stores why a draft missed its planned start. False: it is not planned for this moment any more.
	NoteMissed(ctx context.Context, id string, on game.Moment, why game.MissReason) (bool, error)
	NoteOpened(ctx context.Context, id string, startsAt, endsAt game.Moment) (game.Round, error)
	NoteRaining(ctx context.Context, id string) (game.Round, error)
	NoteClosed(ctx context.Context, id string, reason game.CloseReason, claimed game.Total) (game.Round, error)
	// NoteFault freezes a round, unless it was frozen or released since it was read. frozen: this call froze it.
	NoteFault(ctx context.Context, read game.Round, why game.FreezeReason) (round game.Round, frozen bool, err error)
	// NoteReleased ends the freeze, and accepts the books as they are; mark is the state of Redis, nil if it has no keys of the round.
	NoteReleased(ctx context.Context, id string, mark *game.Watermark) (game.Round, error)
}

// Pool is the rounds in Redis.
type Pool interface {
	// Open makes the round's keys. If they exist it changes nothing and returns the same. Redis' clock decides when it starts.
	// amounts are those of a dealt round, else nil. game.ErrTorn: some keys exist, and others are missing.
	Open(ctx context.Context, round game.Round, amounts []game.Cents) (game.Standing, error)
	// Close closes an open round for a reason; a closed round answers with its first reason. game.ErrNotYet: ByTime before
	// its end, BySoldOut while packets are left. game.ErrWrongPhase: Cancelled once it rains. game.ErrGone: no keys.
	Close(ctx context.Context, round game.Round, reason game.CloseReason) (game.Standing, error)
	// Standing returns the state of a round; Left of a closed one is what it refunds. game.ErrGone: no keys.
	Standing(ctx context.Context, round string) (game.Standing, error)
	// NotifyHosts sends the code of a notice to the pages of a room's hosts.
	NotifyHosts(ctx context.Context, room string, code game.NoticeCode) error
	// Now is the estimated time of Redis' clock.
	Now() game.Moment
}

// Options say how rounds are kept.
type Options struct {
	// Embedded: Redis runs inside this process, and its keys are lost with the process. A round without keys is then closed as
	// interrupted; else it is frozen, and the host decides.
	Embedded bool
	Log      *slog.Logger // nil: no log
}

// Service creates, starts and ends rounds. Safe for concurrent use; any number of instances may share Books and Pool.
type Service struct {
	books    Books
	pool     Pool
	options  Options
	log      *slog.Logger
	wake     chan struct{} // makes Keep list rounds now
	stopping atomic.Bool   // Interrupt was called, so no round may be started
	// keptWaiting has the rounds whose room was busy when they were due: id → planned start.
	keptWaiting sync.Map
	closeDelay  prometheus.Histogram
}

// New returns a service; run its Keep in every instance.
func New(books Books, pool Pool, options Options) *Service {
	log := options.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Service{books: books, pool: pool, options: options, log: log, wake: make(chan struct{}, 1), closeDelay: newCloseDelay()}
}

// Create makes a draft in a room. *game.Invalid: the settings are refused. game.ErrNotFound: there is no such room.
func (s *Service) Create(ctx context.Context, room string, settings game.Settings, rehearsal bool) (game.Round, error) {
	if err := settings.Validate(); err != nil {
		return game.Round{}, err
	}
	title, refused := game.CleanTitle(settings.Title)
	if refused != nil {
		return game.Round{}, refused
	}
	settings.Title = title
	round, err := s.books.CreateRound(ctx, room, settings, rehearsal)
	if err != nil {
		return game.Round{}, fmt.Errorf("create: %w", err)
	}
	return round, nil
}

// noteClosed writes into SQL how a round closed in Redis.
func (s *Service) noteClosed(ctx context.Context, round game.Round, standing game.Standing) (game.Round, error) {
	return s.noteClosedAs(ctx, round, standing.Reason, claimedTotal(round, standing.Left))
}

func (s *Service) noteClosedAs(ctx context.Context, round game.Round, reason game.CloseReason, claimed game.Total) (game.Round, error) {
	closed, err := s.books.NoteClosed(ctx, round.ID, reason, claimed)
	if err != nil {
		return round, err
	}
	s.log.Info("round is closed", "round", closed.ID, "room", closed.Room, "reason", closed.Reason,
		"claimed_packets", closed.Claimed.Packets, "claimed_cents", int64(closed.Claimed.Cents))
	return closed, nil
}

func claimedTotal(round game.Round, left game.Total) game.Total {
	return game.Total{Packets: round.Settings.Packets - left.Packets, Cents: round.Settings.Total - left.Cents}
}

// keysLost reports whether an error of the pool says that the round cannot go on from its keys.
func keysLost(err error) bool { return errors.Is(err, game.ErrGone) || errors.Is(err, game.ErrTorn) }

// handleLostKeys handles a round whose keys are lost. With an embedded Redis it closes it, with what is known to have been claimed;
// otherwise it freezes it, since Redis may come back with the keys.
func (s *Service) handleLostKeys(ctx context.Context, round game.Round, claimed game.Total, cause error) (game.Round, error) {
	if s.options.Embedded {
		s.log.Error("round is interrupted: its keys were lost", "round", round.ID, "room", round.Room, "cause", cause)
		return s.noteClosedAs(ctx, round, game.Interrupted, claimed)
	}
	now, first, err := s.books.NoteFault(ctx, round, game.FrozenKeysLost)
	if err != nil {
		return round, err
	}
	if first {
		s.log.Error("round is frozen: its keys were lost; restore redis, or stop the round to give it up",
			"round", round.ID, "room", round.Room, "cause", cause)
	}
	return now, nil
}
