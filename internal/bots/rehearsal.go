package bots

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"redrain/internal/game"
)

// Books are what rehearsals need of the ledger.
type Books interface {
	// Stage is the hidden room in which a room's rehearsals are played.
	Stage(ctx context.Context, room string) (game.Room, error)
	CreateRound(ctx context.Context, room string, settings game.Settings, rehearsal bool) (game.Round, error)
	// AddSubject makes the player of a subject, or finds the one there is.
	AddSubject(ctx context.Context, room, subject, nickname string) (game.Player, error)
	NoteRehearsal(ctx context.Context, r game.Rehearsal) (game.Rehearsal, error)
	// EndRehearsal notes the report in JSON, or the problem that it failed of.
	EndRehearsal(ctx context.Context, round string, report []byte, problem string) error
	Rehearsals(ctx context.Context, room string, limit int) ([]game.Rehearsal, error)
}

// Passes signs sessions for the bots and their host.
type Passes interface {
	NewHost() (string, error)
	NewPlayer(room, player string) (string, error)
}

const (
	rehearsalsShown = 10
	// rehearsalLimit is longer than any rehearsal takes; one that is older and still runs has died with its instance.
	rehearsalLimit = 15 * time.Minute
	noteWithin     = 10 * time.Second
)

// Rehearsals plays copies of rounds with bots on the stage of their room: a room of its own, so that everything that keeps
// rooms apart (channels, leases, the rule of one active round) keeps the audience undisturbed. The bots come in by the front
// door of this very instance, over loopback. Safe for concurrent use.
type Rehearsals struct {
	books    Books
	passes   Passes
	instance func() string // this instance's address, like http://127.0.0.1:8080
	changed  func(ctx context.Context, room string)
	log      *slog.Logger

	ctx     context.Context //nolint:containedctx // the lifetime of what is played
	cancel  context.CancelFunc
	playing sync.WaitGroup

	mu        sync.Mutex
	beginning map[string]bool // rooms between looking whether a rehearsal runs and noting that one does
}

// NewRehearsals returns Rehearsals; changed hears of each beginning and end. Close ends them.
func NewRehearsals(books Books, passes Passes, instance func() string, changed func(ctx context.Context, room string), log *slog.Logger) *Rehearsals {
	r := &Rehearsals{books: books, passes: passes, instance: instance, changed: changed, log: log, beginning: make(map[string]bool)}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Stop stops what is played, and does not wait for it. Nothing can be rehearsed from then on.
func (r *Rehearsals) Stop() { r.cancel() }

// Close stops what is played and waits until it is noted as such, which takes up to 10 s where the books do not answer.
// Closing twice is fine.
func (r *Rehearsals) Close() {
	r.Stop()
	r.playing.Wait()
}

// Rehearsals lists the latest rehearsals of a room, the newest first.
func (r *Rehearsals) Rehearsals(ctx context.Context, room string) ([]game.Rehearsal, error) {
	list, err := r.books.Rehearsals(ctx, room, rehearsalsShown)
	for i := range list {
		if list[i].State == game.RehearsalRunning && time.Since(list[i].BegunAt) > rehearsalLimit {
			list[i].State, list[i].Problem = game.RehearsalFailed, "the server was stopped meanwhile"
		}
	}
	return list, err
}

// Rehearse begins a rehearsal of a round with these settings, with so many bots that make rate taps a second each, and
// returns at once. game.ErrRoomBusy: one of this room is still running or just beginning. game.ErrNotFound: there is no such room.
// game.ErrBusy: after Stop.
func (r *Rehearsals) Rehearse(ctx context.Context, room string, settings game.Settings, players int, rate float64) (game.Rehearsal, error) {
	if !r.claim(room) {
		return game.Rehearsal{}, fmt.Errorf("rehearse: %w", game.ErrRoomBusy)
	}
	defer r.free(room)
	if r.ctx.Err() != nil {
		return game.Rehearsal{}, fmt.Errorf("rehearse: %w: the instance stops", game.ErrBusy)
	}
	ctx, cancel := context.WithTimeout(ctx, noteWithin)
	defer cancel()
	latest, err := r.Rehearsals(ctx, room)
	if err != nil {
		return game.Rehearsal{}, err
	}
	if len(latest) > 0 && latest[0].State == game.RehearsalRunning {
		return game.Rehearsal{}, fmt.Errorf("rehearse: %w", game.ErrRoomBusy)
	}
	stage, err := r.books.Stage(ctx, room)
	if err != nil {
		return game.Rehearsal{}, fmt.Errorf("rehearse: %w", err)
	}
	round, err := r.books.CreateRound(ctx, stage.Code, settings, true)
	if err != nil {
		return game.Rehearsal{}, fmt.Errorf("rehearse: %w", err)
	}
	begun, err := r.books.NoteRehearsal(ctx, game.Rehearsal{Round: round.ID, Room: room, Players: players, Rate: rate})
	if err != nil {
		return game.Rehearsal{}, fmt.Errorf("rehearse: %w", err)
	}
	r.playing.Go(func() { r.play(begun, round) })
	return begun, nil
}

// claim makes one caller at a time begin a rehearsal of a room; others are refused, and those of other rooms do not wait.
func (r *Rehearsals) claim(room string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.beginning[room] {
		return false
	}
	r.beginning[room] = true
	return true
}

func (r *Rehearsals) free(room string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.beginning, room)
}

func (r *Rehearsals) play(begun game.Rehearsal, round game.Round) {
	var report []byte
	problem := ""
	played, err := r.swarm(begun, round)
	if err == nil {
		report, err = json.Marshal(played)
	}
	if err != nil {
		problem = err.Error()
		if errors.Is(err, context.Canceled) {
			problem = "the server was stopped meanwhile"
		}
		r.log.Warn("a rehearsal failed", "room", begun.Room, "round", begun.Round, "error", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), noteWithin)
	defer cancel()
	if err := r.books.EndRehearsal(ctx, begun.Round, report, problem); err != nil {
		r.log.Warn("cannot note the end of a rehearsal", "round", begun.Round, "error", err)
	}
	r.changed(ctx, begun.Room)
}

// comeInAtOnce is how many bots come in a second.
const comeInAtOnce = 200

func (r *Rehearsals) swarm(begun game.Rehearsal, round game.Round) (*Report, error) {
	token, err := r.passes.NewHost()
	if err != nil {
		return nil, fmt.Errorf("let the bots' host in: %w", err)
	}
	return Play(r.ctx, Options{
		Instances: []string{r.instance()}, Token: token, Round: round.ID, Room: round.Room,
		Players: begun.Players, Rate: begun.Rate, Ramp: time.Second * time.Duration(begun.Players) / comeInAtOnce,
		Duration: round.Settings.Countdown + round.Settings.Duration,
		Seat: func(ctx context.Context, i int) (id, token string, err error) {
			name := fmt.Sprintf("bot %d", i+1)
			bot, err := r.books.AddSubject(ctx, round.Room, name, name) // the same bots at every rehearsal
			if err != nil {
				return "", "", err //nolint:wrapcheck // says itself what it could not do
			}
			token, err = r.passes.NewPlayer(round.Room, bot.ID)
			return bot.ID, token, err //nolint:wrapcheck // says itself what it could not do
		},
	})
}
