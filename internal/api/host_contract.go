package api

import (
	"context"

	"redrain/internal/game"
)

// Desk is what hosts set up and look at beyond single rounds. Methods return game.ErrNotFound, wrapped, for what is not there.
type Desk interface {
	// RoomSummaries lists up to limit rooms of people, the newest first: those after one, or from the newest if after is empty.
	RoomSummaries(ctx context.Context, after string, limit int) ([]game.RoomSummary, error)
	// SetAccessPolicy says whether a room takes newcomers, and whether only those whom the host's own app vouches for.
	SetAccessPolicy(ctx context.Context, code string, locked, appOnly bool) (game.Room, error)
	// Stage is the hidden room in which a room's rehearsals are played.
	Stage(ctx context.Context, code string) (game.Room, error)

	// CreateRounds makes drafts in this order, all or none; the settings are valid.
	CreateRounds(ctx context.Context, room string, settings []game.Settings) ([]game.Round, error)
	OrderDrafts(ctx context.Context, room string, ids []string) error
	// PlanStart sets when a draft starts by itself; 0: by hand. game.ErrWrongPhase: it is no draft.
	PlanStart(ctx context.Context, id string, on game.Moment) (game.Round, error)
	// ChangeDraft gives a draft other settings, which are valid. game.ErrWrongPhase: it is no draft.
	ChangeDraft(ctx context.Context, id string, settings game.Settings) (game.Round, error)
	// DropDraft deletes a draft. game.ErrWrongPhase: it is none.
	DropDraft(ctx context.Context, id string) error
}

// Guests are the players of a room as its host sees them, and as the host's own app vouches for them.
type Guests interface {
	// Guests lists who joined a room, the newest first.
	Guests(ctx context.Context, room string, query game.GuestQuery) (game.GuestPage, error)
	// CountGuests counts them, and those who joined before the ms since 1970; it must be asked before Guests for its mark to
	// be good.
	CountGuests(ctx context.Context, room string, before int64) (game.GuestCount, error)
	RenamePlayer(ctx context.Context, room, id, nickname string) (game.Player, error)
	BlockPlayer(ctx context.Context, room, id string, blocked bool) (game.Player, error)
	PlayerOfSubject(ctx context.Context, room, subject string) (game.Player, error)
	// AddSubject makes the player of a subject, or finds the one there is.
	AddSubject(ctx context.Context, room, subject, nickname string) (game.Player, error)
	// PlayedBy lists up to limit rounds in which a player won something, the newest first, among the last that the room began.
	PlayedBy(ctx context.Context, player string, limit int) ([]game.PlayedRound, error)
	// Balance is what a player has won and was not paid out.
	Balance(ctx context.Context, player string) (game.Cents, error)
}

// Speaker reaches the pages of a room on every instance. What it says may be lost.
type Speaker interface {
	// PublishNotice gives everybody a wire.Notice in JSON.
	PublishNotice(ctx context.Context, room string, notice []byte) error
	// NotifyHosts sends hosts the code of a notice.
	NotifyHosts(ctx context.Context, room, code string) error
	// PublishAccessChanged says that a player was blocked, or unblocked.
	PublishAccessChanged(ctx context.Context, room string) error
}

// Rehearsals plays rounds with bots, out of sight.
type Rehearsals interface {
	// Rehearse begins a rehearsal and returns at once. game.ErrRoomBusy: one of this room is still running.
	Rehearse(ctx context.Context, room string, settings game.Settings, players int, rate float64) (game.Rehearsal, error)
	// Rehearsals lists the latest of a room, the newest first.
	Rehearsals(ctx context.Context, room string) ([]game.Rehearsal, error)
}
