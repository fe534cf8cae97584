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

// Books is what rehearsals need of the ledger.
type Books interface {
	// Stage returns the hidden room in which a room's rehearsals are played.
	Stage(ctx context.Context, room string) (game.Room, error)
	CreateRound(ctx context.Context, room string, settings game.Settings, rehearsal bool) (game.Round, error)
	// AddSubject returns the player of a subject, and creates it if there is none.
	AddSubject(ctx context.Context, room, subject, nickname string) (game.Player, error)
	NoteRehearsal(ctx context.Context, r game.Rehearsal) (game.Rehearsal, error)
	// EndRehearsal records the report in JSON, or why the rehearsal failed.
	EndRehearsal(ctx context.Context, round string, report []byte, problem string) error
	Rehearsals(ctx context.Context, room string, limit int) ([]game.Rehearsal, error)
}

// SessionIssuer issues session tokens for the bots and their host.
type SessionIssuer interface {
	NewHostToken() (string, error)
	NewPlayerToken(room, player string) (string, error)
}

const (
	rehearsalsListed = 10
	// rehearsalLimit is longer than any rehearsal takes. An older one that counts as running was cut off when its instance died.
	rehearsalLimit = 15 * time.Minute
	noteTimeout    = 10 * time.Second
)

// Rehearsals plays copies of rounds with bots in the stage of a room: a hidden room of its own, so that channels, leases and the rule
// of one active round a room keep the rehearsal apart from the audience. The bots connect to this instance over loopback, by HTTP and
// WebSocket like players. Safe for concurrent use.
type Rehearsals struct {
	books         Books
	sessions      SessionIssuer
	instance      func() string // this instance's address, like http://127.0.0.1:8080
	notifyChanged func(ctx context.Context, room string)
	log           *slog.Logger

	ctx     context.Context //nolint:containedctx // canceled to stop all rehearsals
	cancel  context.CancelFunc
	playing sync.WaitGroup

	mu        sync.Mutex
	beginning map[string]bool // rooms for which Rehearse is under way
}

// NewRehearsals returns Rehearsals; changed is called at the end of each. Close ends them.
func NewRehearsals(books Books, sessions SessionIssuer, instance func() string, changed func(ctx context.Context, room string), log *slog.Logger) *Rehearsals {
	r := &Rehearsals{books: books, sessions: sessions, instance: instance, notifyChanged: changed, log: log, beginning: make(map[string]bool)}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Stop cancels all rehearsals without waiting for them. No other can be started from then on.
func (r *Rehearsals) Stop() { r.cancel() }

// Close cancels all rehearsals and waits until their end is recorded, which takes up to 10 s if the database does not answer.
// Closing twice is fine.
func (r *Rehearsals) Close() {
	r.Stop()
	r.playing.Wait()
}

// Rehearsals lists the latest rehearsals of a room, the newest first.
func (r *Rehearsals) Rehearsals(ctx context.Context, room string) ([]game.Rehearsal, error) {
	list, err := r.books.Rehearsals(ctx, room, rehearsalsListed)
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
	if !r.reserveRoom(room) {
		return game.Rehearsal{}, fmt.Errorf("rehearse: %w", game.ErrRoomBusy)
	}
	defer r.releaseRoom(room)
	if r.ctx.Err() != nil {
		return game.Rehearsal{}, fmt.Errorf("rehearse: %w: the instance stops", game.ErrBusy)
	}
	ctx, cancel := context.WithTimeout(ctx, noteTimeout)
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

// reserveRoom lets one caller at a time start a rehearsal of a room. It returns false to others, and does not block callers for other
// rooms.
func (r *Rehearsals) reserveRoom(room string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.beginning[room] {
		return false
	}
	r.beginning[room] = true
	return true
}

func (r *Rehearsals) releaseRoom(room string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.beginning, room)
}

func (r *Rehearsals) play(begun game.Rehearsal, round game.Round) {
	var report []byte
	problem := ""
	played, err := r.playSwarm(begun, round)
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), noteTimeout)
	defer cancel()
	if err := r.books.EndRehearsal(ctx, begun.Round, report, problem); err != nil {
		r.log.Warn("cannot note the end of a rehearsal", "round", begun.Round, "error", err)
	}
	r.notifyChanged(ctx, begun.Room)
}

// joinsPerSecond is how many bots join a second.
const joinsPerSecond = 200

func (r *Rehearsals) playSwarm(begun game.Rehearsal, round game.Round) (*Report, error) {
	token, err := r.sessions.NewHostToken()
	if err != nil {
		return nil, fmt.Errorf("make a session for the bots' host: %w", err)
	}
	return Play(r.ctx, Options{
		Instances: []string{r.instance()}, Token: token, Round: round.ID, Room: round.Room,
		Players: begun.Players, Rate: begun.Rate, Ramp: time.Second * time.Duration(begun.Players) / joinsPerSecond,
		Duration: (round.Settings.Countdown + round.Settings.Duration).Duration(),
		MakePlayer: func(ctx context.Context, i int) (id, token string, err error) {
			name := fmt.Sprintf("bot %d", i+1)
			bot, err := r.books.AddSubject(ctx, round.Room, name, name) // the same bots at every rehearsal
			if err != nil {
				return "", "", err //nolint:wrapcheck // says itself what it could not do
			}
			token, err = r.sessions.NewPlayerToken(round.Room, bot.ID)
			return bot.ID, token, err //nolint:wrapcheck // says itself what it could not do
		},
	})
}
