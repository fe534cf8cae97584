package ledger

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// CreateRounds creates drafts in a room in the order in which they are to be played: all of them, or none. game.ErrNotFound:
// there is no such room. The settings must be valid.
func (l *Ledger) CreateRounds(ctx context.Context, room string, settings []game.Settings) ([]game.Round, error) {
	if _, err := l.Room(ctx, room); err != nil {
		return nil, fmt.Errorf("create rounds: %w", err)
	}
	rows := make([]roundRow, len(settings))
	now := l.now()
	for i, s := range settings {
		rows[i] = *newDraftRow(uuid.NewString(), room, s, false, now.Add(time.Duration(i)*time.Millisecond))
	}
	if _, err := l.write.NewInsert().Model(&rows).Exec(ctx); err != nil {
		return nil, fmt.Errorf("create rounds: %w", err)
	}
	return toRounds(rows), nil
}

// OrderDrafts puts the drafts of a room into the order of these ids. It ignores ids of other rounds, and leaves drafts that are not
// named where they are.
func (l *Ledger) OrderDrafts(ctx context.Context, room string, ids []string) error {
	err := l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		// Without this lock two calls at once could deadlock on the rows of drafts.
		if err := lockRoom(ctx, tx, room); err != nil {
			return err
		}
		for i, id := range ids {
			_, err := tx.NewUpdate().Model((*roundRow)(nil)).Set("place = ?", i+1).
				Where("id = ?", id).Where("room = ?", room).Where("phase = ?", game.Draft).Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("order the drafts of room %s: %w", room, err)
	}
	return nil
}

// PlanStart sets when a draft starts automatically, by Redis' clock; 0: not at all. A start that was missed before is forgotten. game.ErrWrongPhase: it is not a draft any more.
// game.ErrNotFound.
func (l *Ledger) PlanStart(ctx context.Context, id string, on game.Moment) (game.Round, error) {
	planned := roundChange{name: "plan start", refused: []game.Phase{game.Countdown, game.Raining, game.Closed, game.Settled}}
	return l.changeRound(ctx, id, planned, func(ctx context.Context, tx bun.Tx, round game.Round) error {
		return updateRound(ctx, tx, round, func(q *bun.UpdateQuery) *bun.UpdateQuery {
			return q.Set("starts_on = ?", on).Set("missed_on = 0").Set("miss_reason = ''")
		})
	})
}

// NoteMissed stores that a draft missed its planned start, and why; it does not start automatically any more. False: nothing changed,
// because the draft is planned for another moment by now.
func (l *Ledger) NoteMissed(ctx context.Context, id string, on game.Moment, why game.MissReason) (bool, error) {
	result, err := l.write.NewUpdate().Model((*roundRow)(nil)).Set("starts_on = 0").Set("missed_on = ?", on).Set("miss_reason = ?", why).
		Where("id = ?", id).Where("phase = ?", game.Draft).Where("starts_on = ?", on).Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("note that round %s missed its start: %w", id, err)
	}
	changed, err := result.RowsAffected()
	return changed > 0, err //nolint:wrapcheck // no driver here fails to count
}

// DueRounds returns the drafts of all rooms whose planned start is now or before, the earliest first.
func (l *Ledger) DueRounds(ctx context.Context, now game.Moment) ([]game.Round, error) {
	var rows []roundRow
	err := l.read.NewSelect().Model(&rows).Where("phase = ?", game.Draft).Where("starts_on > 0").Where("starts_on <= ?", now).
		Order("starts_on", "place", "id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read due rounds: %w", err)
	}
	return toRounds(rows), nil
}

// settingColumns are the columns of a round's settings.
var settingColumns = columnsOf(reflect.TypeFor[game.Settings]())

func columnsOf(row reflect.Type) []string {
	columns := make([]string, row.NumField())
	for i := range columns {
		columns[i] = row.Field(i).Tag.Get("bun")
	}
	return columns
}

// ChangeDraft gives a draft other settings, which must be valid. It keeps its place and its planned start. game.ErrWrongPhase: it
// is not a draft any more. game.ErrNotFound.
func (l *Ledger) ChangeDraft(ctx context.Context, id string, settings game.Settings) (game.Round, error) {
	row := newDraftRow(id, "", settings, false, l.now())
	changed := roundChange{name: "change draft", refused: []game.Phase{game.Countdown, game.Raining, game.Closed, game.Settled}}
	return l.changeRound(ctx, id, changed, func(ctx context.Context, tx bun.Tx, round game.Round) error {
		return requireOneRow(tx.NewUpdate().Model(row).Column(settingColumns...).
			Where("id = ?", id).Where("phase = ?", round.Phase).Exec(ctx))
	})
}

// DropDraft deletes a draft. game.ErrWrongPhase: it was begun, and begun rounds are never deleted. game.ErrNotFound.
func (l *Ledger) DropDraft(ctx context.Context, id string) error {
	err := l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		round, err := lockRound(ctx, tx, id)
		if err != nil {
			return err
		}
		if round.Phase != game.Draft {
			return game.ErrWrongPhase
		}
		return requireOneRow(tx.NewDelete().Model((*roundRow)(nil)).Where("id = ?", id).Where("phase = ?", round.Phase).Exec(ctx))
	})
	if err != nil {
		return fmt.Errorf("drop draft %s: %w", id, err)
	}
	return nil
}
