package ledger

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// Drafts returns up to limit drafts of a room, in the order in which they are to be played.
func (l *Ledger) Drafts(ctx context.Context, room string, limit int) ([]game.Round, error) {
	var rows []roundRow
	err := l.read.NewSelect().Model(&rows).Where("room = ?", room).Where("phase = ?", game.Draft).
		Order("place", "id").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read drafts of room %s: %w", room, err)
	}
	return roundsOf(rows)
}

// BegunRounds returns up to limit rounds of a room that were begun, the last begun first: those after the round with the id
// after in this order, or from the start if it is empty. game.ErrNotFound: there is no round after.
func (l *Ledger) BegunRounds(ctx context.Context, room, after string, limit int) ([]game.Round, error) {
	var rows []roundRow
	query, err := l.begunAfter(ctx, room, after)
	if err == nil {
		err = query.Limit(int64(limit)).Scan(ctx, &rows)
	}
	if err != nil {
		return nil, fmt.Errorf("read begun rounds of room %s: %w", room, err)
	}
	return roundsOf(rows)
}

// begunAfter is the part of begun that comes after a round.
func (l *Ledger) begunAfter(ctx context.Context, room, after string) (*bun.SelectQuery, error) {
	query := l.begun(room)
	if after == "" {
		return query, nil
	}
	last := new(roundRow)
	if err := l.read.NewSelect().Model(last).Column("begun_at").Where("id = ?", after).Where("room = ?", room).Scan(ctx); err != nil {
		return nil, orNotFound(err)
	}
	return query.Where("begun_at <= ?", last.BegunAt).Where("(begun_at < ? OR id < ?)", last.BegunAt, after), nil
}

// PlayedRounds returns up to limit rounds that a room has played to their end, the last begun first: neither rehearsals nor
// what was cancelled.
func (l *Ledger) PlayedRounds(ctx context.Context, room string, limit int) ([]game.Round, error) {
	var rows []roundRow
	over := []game.Phase{game.Closed, game.Settled}
	err := l.begun(room).Where("phase IN (?)", bun.List(over)).Where("rehearsal = ?", false).Where("reason <> ?", game.Cancelled).
		Limit(int64(limit)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read played rounds of room %s: %w", room, err)
	}
	return roundsOf(rows)
}

// NextPlanned returns the draft of a room that starts by itself soonest, never a rehearsal; game.ErrNotFound: none does.
func (l *Ledger) NextPlanned(ctx context.Context, room string) (game.Round, error) {
	row := new(roundRow)
	err := l.read.NewSelect().Model(row).Where("room = ?", room).Where("phase = ?", game.Draft).Where("starts_on > 0").
		Where("rehearsal = ?", false).Order("starts_on").Limit(1).Scan(ctx)
	if err != nil {
		return game.Round{}, fmt.Errorf("read the next planned round of room %s: %w", room, orNotFound(err))
	}
	return row.round()
}
