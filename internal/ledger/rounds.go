package ledger

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// active lists the phases in which a round holds its room.
var active = []game.Phase{game.Countdown, game.Raining}

// CreateRound makes a draft in a room, or returns game.ErrNotFound if there is no such room. The settings must be valid.
func (l *Ledger) CreateRound(ctx context.Context, room string, settings game.Settings, rehearsal bool) (game.Round, error) {
	if _, err := l.Room(ctx, room); err != nil {
		return game.Round{}, fmt.Errorf("create round: %w", err)
	}
	row, err := draftRow(uuid.NewString(), room, settings, rehearsal, l.now())
	if err != nil {
		return game.Round{}, fmt.Errorf("create round: %w", err)
	}
	if _, err := l.write.NewInsert().Model(row).Exec(ctx); err != nil {
		return game.Round{}, fmt.Errorf("create round: %w", err)
	}
	return row.round()
}

// Round returns the round with this id, or game.ErrNotFound.
func (l *Ledger) Round(ctx context.Context, id string) (game.Round, error) {
	round, err := readRound(ctx, l.read, id)
	if err != nil {
		return game.Round{}, fmt.Errorf("read round %s: %w", id, err)
	}
	return round, nil
}

// LastRound returns what the pages of a room show: the active round, else the one that was begun last, never a draft;
// game.ErrNotFound if none was begun yet. A rehearsal counts like any other.
func (l *Ledger) LastRound(ctx context.Context, room string) (game.Round, error) {
	row := new(roundRow)
	// The active one first, and not merely the last begun: begun_at comes from the clocks of several instances.
	current := l.read.NewSelect().Model((*roomRow)(nil)).Column("active_round").Where("code = ?", room)
	err := l.read.NewSelect().Model(row).Where("id = COALESCE((?), (?))", current, l.begun(room).Column("id").Limit(1)).Scan(ctx)
	if err != nil {
		return game.Round{}, fmt.Errorf("read last round of room %s: %w", room, orNotFound(err))
	}
	return row.round()
}

// begun are the rounds of a room that were begun, the last one first, by the moments when they were.
func (l *Ledger) begun(room string) *bun.SelectQuery {
	return l.read.NewSelect().Model((*roundRow)(nil)).Where("room = ?", room).Where("begun_at > 0").Order("begun_at DESC", "id DESC")
}

// OpenRounds returns all rounds in countdown or raining, of all rooms, frozen ones too, in the order of their ids.
func (l *Ledger) OpenRounds(ctx context.Context) ([]game.Round, error) {
	var rows []roundRow
	err := l.read.NewSelect().Model(&rows).Where("phase IN (?)", bun.List(active)).Order("id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read open rounds: %w", err)
	}
	return roundsOf(rows)
}

func roundsOf(rows []roundRow) ([]game.Round, error) {
	rounds := make([]game.Round, len(rows))
	for i := range rows {
		var err error
		if rounds[i], err = rows[i].round(); err != nil {
			return nil, err
		}
	}
	return rounds, nil
}

func readRound(ctx context.Context, db bun.IDB, id string) (game.Round, error) {
	row := new(roundRow)
	if err := db.NewSelect().Model(row).Where("id = ?", id).Scan(ctx); err != nil {
		return game.Round{}, orNotFound(err)
	}
	return row.round()
}
