package api

import (
	"context"
	"time"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// Rooms keeps rooms and the players in them. Methods return game.ErrNotFound, wrapped, for what is not there. Names are
// clean already.
type Rooms interface {
	CreateRoom(ctx context.Context, name string) (game.Room, error)
	Room(ctx context.Context, code string) (game.Room, error)
	AddPlayer(ctx context.Context, room, nickname string) (game.Player, error)
	Player(ctx context.Context, id string) (game.Player, error)
	// Nicknames returns nicknames by player id; unknown ids are left out.
	Nicknames(ctx context.Context, players []string) (map[string]string, error)
}

// Rounds makes rounds and moves them. Start, Stop and Cancel may be repeated: the same answer, nothing happens twice. They
// return game.ErrRoomBusy or game.ErrWrongPhase, wrapped, where the round cannot take the step.
type Rounds interface {
	// Create makes a draft; the settings are valid.
	Create(ctx context.Context, room string, settings game.Settings, rehearsal bool) (game.Round, error)
	Start(ctx context.Context, id string) (game.Round, error)
	Stop(ctx context.Context, id string) (game.Round, error)
	Cancel(ctx context.Context, id string) (game.Round, error)
	Round(ctx context.Context, id string) (game.Round, error)
	// LastRound is what the pages of a room show: the active round, else the last one; game.ErrNotFound if there is none.
	LastRound(ctx context.Context, room string) (game.Round, error)
	// Drafts lists up to limit drafts of a room, in the order in which they are to be played.
	Drafts(ctx context.Context, room string, limit int) ([]game.Round, error)
	// BegunRounds lists up to limit rounds of a room, the last begun first: those after one, or from the start if after is
	// empty. game.ErrNotFound: the room has none with this id.
	BegunRounds(ctx context.Context, room, after string, limit int) ([]game.Round, error)
	// PlayedRounds lists up to limit rounds that a room has played to their end, the last begun first: neither rehearsals nor
	// what was cancelled.
	PlayedRounds(ctx context.Context, room string, limit int) ([]game.Round, error)
	// NextPlanned is the draft that starts by itself soonest, never a rehearsal; game.ErrNotFound if none does.
	NextPlanned(ctx context.Context, room string) (game.Round, error)
}

// Claims reads the claims of a round.
type Claims interface {
	// Claims returns up to limit claims with a number above after, in the order of their numbers.
	Claims(ctx context.Context, round string, after, limit int) ([]game.Claim, error)
	// ClaimsOf returns players' claims by player id, in the order in which they were made.
	ClaimsOf(ctx context.Context, round string, players ...string) (map[string][]game.Claim, error)
}

// Results reads what settled rounds came to.
type Results interface {
	// FinalRanks returns everybody with claims in the round, the best first, in the order of the leaderboard.
	FinalRanks(ctx context.Context, round string) ([]string, error)
	// ClaimsOf returns players' claims by player id, in the order of their numbers.
	ClaimsOf(ctx context.Context, round string, players ...string) (map[string][]game.Claim, error)
}

// Tallies reads the current tally of a round.
type Tallies interface {
	Tally(ctx context.Context, round game.Round) (wire.Tally, error)
}

// Check is one thing that must work for this instance to be ready. Ask must heed its context.
type Check struct {
	Name string
	Ask  func(ctx context.Context) error
	// Took is how long it took when it was done last, for a check that is done in the background; nil: Ask does it.
	Took func() time.Duration
}
