package api

import (
	"context"
	"time"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// Rooms stores rooms and their players. Methods return game.ErrNotFound, wrapped, for a room or player that does not exist. The
// names passed in are already normalized.
type Rooms interface {
	CreateRoom(ctx context.Context, name string) (game.Room, error)
	Room(ctx context.Context, code string) (game.Room, error)
	// AddPlayer and the other methods that take a nickname may give it a number, see game.NumberedName.
	AddPlayer(ctx context.Context, room, nickname string) (game.Player, error)
	Player(ctx context.Context, id string) (game.Player, error)
	// HostNicknames returns nicknames by player id, also those of blocked players; unknown ids are left out.
	HostNicknames(ctx context.Context, players []string) (map[string]string, error)
}

// Rounds creates rounds and changes their phase. Start, Stop and Cancel are idempotent. They return game.ErrRoomBusy or
// game.ErrWrongPhase, wrapped, if the round cannot change its phase in this way now.
type Rounds interface {
	// Create creates a draft; the settings are already validated.
	Create(ctx context.Context, room string, settings game.Settings, rehearsal bool) (game.Round, error)
	Start(ctx context.Context, id string) (game.Round, error)
	Stop(ctx context.Context, id string) (game.Round, error)
	Cancel(ctx context.Context, id string) (game.Round, error)
	Round(ctx context.Context, id string) (game.Round, error)
	// LastRound returns the round that the pages of a room show: the active one, or else the last one; game.ErrNotFound if there
	// is none.
	LastRound(ctx context.Context, room string) (game.Round, error)
	// Drafts lists up to limit drafts of a room, in the order in which they are to be played.
	Drafts(ctx context.Context, room string, limit int) ([]game.Round, error)
	// BegunRounds lists up to limit rounds of a room, the last begun first: those after one, or from the start if after is
	// empty. game.ErrNotFound: the room has none with this id.
	BegunRounds(ctx context.Context, room, after string, limit int) ([]game.Round, error)
	// PlayedRounds lists up to limit rounds that a room has finished, the last begun first, without rehearsals and cancelled
	// rounds.
	PlayedRounds(ctx context.Context, room string, limit int) ([]game.Round, error)
	// NextPlanned returns the draft with the earliest scheduled start, never a rehearsal; game.ErrNotFound if none is scheduled.
	NextPlanned(ctx context.Context, room string) (game.Round, error)
}

// Claims reads the claims of a round.
type Claims interface {
	// Claims returns up to limit claims with a number above after, in the order of their numbers.
	Claims(ctx context.Context, round string, after, limit int) ([]game.Claim, error)
	// ClaimsOf returns players' claims by player id, in the order in which they were made.
	ClaimsOf(ctx context.Context, round string, players ...string) (map[string][]game.Claim, error)
}

// Results reads the results of settled rounds.
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

// Check tests one dependency that this instance needs to be ready. Run must respect its context.
type Check struct {
	Name string
	Run  func(ctx context.Context) error
	// Latency returns how long the check last took, for one that runs in the background; nil: Run itself is timed.
	Latency func() time.Duration
}

// RoomAdmin manages rooms and their drafts for hosts. Methods return game.ErrNotFound, wrapped, for a room or draft that does not
// exist.
type RoomAdmin interface {
	// RoomSummaries lists up to limit rooms, the newest first, without the hidden ones of rehearsals: those after the room with
	// the code after, or from the newest if it is empty.
	RoomSummaries(ctx context.Context, after string, limit int) ([]game.RoomSummary, error)
	// SetAccessPolicy sets whether a room is locked to new players, and whether they may join only with a token of the host's own
	// app.
	SetAccessPolicy(ctx context.Context, code string, locked, appOnly bool) (game.Room, error)
	// Stage returns the hidden room in which a room's rehearsals are played.
	Stage(ctx context.Context, code string) (game.Room, error)

	// CreateRounds creates drafts in this order, all or none; the settings are already validated.
	CreateRounds(ctx context.Context, room string, settings []game.Settings) ([]game.Round, error)
	OrderDrafts(ctx context.Context, room string, ids []string) error
	// PlanStart schedules the automatic start of a draft; 0 removes the schedule. game.ErrWrongPhase: the round is no draft.
	PlanStart(ctx context.Context, id string, on game.Moment) (game.Round, error)
	// ChangeDraft replaces the settings of a draft with validated ones. game.ErrWrongPhase: the round is no draft.
	ChangeDraft(ctx context.Context, id string, settings game.Settings) (game.Round, error)
	// DropDraft deletes a draft. game.ErrWrongPhase: the round is no draft.
	DropDraft(ctx context.Context, id string) error
}

// Guests stores the players of a room as its host manages them. A subject is the id of a player in the host's own app.
type Guests interface {
	// Guests lists who joined a room, the newest first.
	Guests(ctx context.Context, room string, query game.GuestQuery) (game.GuestPage, error)
	// CountGuests counts all players of a room, and those who joined before a time in ms since 1970. For its mark to be usable it
	// must be called before Guests.
	CountGuests(ctx context.Context, room string, before int64) (game.GuestCount, error)
	RenamePlayer(ctx context.Context, room, id, nickname string) (game.Player, error)
	BlockPlayer(ctx context.Context, room, id string, blocked bool) (game.Player, error)
	PlayerOfSubject(ctx context.Context, room, subject string) (game.Player, error)
	// AddSubject returns the player of a subject, and creates it if there is none.
	AddSubject(ctx context.Context, room, subject, nickname string) (game.Player, error)
	// PlayedBy lists up to limit rounds in which a player won something, the newest first, among the last that the room began.
	PlayedBy(ctx context.Context, player string, limit int) ([]game.PlayedRound, error)
	// Balance returns the sum that a player has won and that was not paid out yet.
	Balance(ctx context.Context, player string) (game.Cents, error)
}

// Publisher publishes to the pages of a room on all instances. Delivery is not guaranteed.
type Publisher interface {
	// PublishNotice sends a notice to everybody in the room.
	PublishNotice(ctx context.Context, room string, notice game.Notice) error
	// NotifyHosts sends the code of a notice to the hosts of the room.
	NotifyHosts(ctx context.Context, room string, code game.NoticeCode) error
	// PublishAccessChanged tells all instances that a player of the room was blocked or unblocked.
	PublishAccessChanged(ctx context.Context, room string) error
}

// Rehearser plays rounds with bots in a hidden room.
type Rehearser interface {
	// Rehearse begins a rehearsal and returns at once. game.ErrRoomBusy: one of this room is still running.
	Rehearse(ctx context.Context, room string, settings game.Settings, players int, rate float64) (game.Rehearsal, error)
	// Rehearsals lists the latest of a room, the newest first.
	Rehearsals(ctx context.Context, room string) ([]game.Rehearsal, error)
}
