package ledger

import (
	"context"
	"errors"
	"fmt"

	"redrain/internal/game"
)

// SetAccessPolicy says who may come into a room: locked keeps newcomers out, appOnly those without a token of the host's own app.
// Who is in stays in. game.ErrNotFound.
func (l *Ledger) SetAccessPolicy(ctx context.Context, code string, locked, appOnly bool) (game.Room, error) {
	_, err := l.write.NewUpdate().Model((*roomRow)(nil)).Set("locked = ?", locked).Set("app_only = ?", appOnly).
		Where("code = ?", code).Exec(ctx)
	if err != nil {
		return game.Room{}, fmt.Errorf("set the doors of room %s: %w", code, err)
	}
	return l.Room(ctx, code)
}

// Stage returns the hidden room in which a room's rehearsals are played, and makes it the first time. It has a room's code,
// so that everything that keeps rooms apart keeps rehearsals and audiences apart; nobody is told the code, and its door is
// locked. game.ErrNotFound: there is no such room.
func (l *Ledger) Stage(ctx context.Context, code string) (game.Room, error) {
	room, err := l.Room(ctx, code)
	if err != nil {
		return game.Room{}, fmt.Errorf("find the stage: %w", err)
	}
	for range codeTries {
		stage := new(roomRow)
		err := l.read.NewSelect().Model(stage).Where("stage_of = ?", code).Scan(ctx)
		if err = orNotFound(err); err == nil || !errors.Is(err, game.ErrNotFound) {
			return stage.room(), err
		}
		// Of two that make it at once one is ignored, and finds the other's.
		row := roomRow{Code: l.newCode(), Name: room.Name, Locked: true, StageOf: &code, CreatedAt: l.now().UnixMilli()}
		if _, err := l.write.NewInsert().Model(&row).Ignore().Exec(ctx); err != nil {
			return game.Room{}, fmt.Errorf("make the stage of room %s: %w", code, err)
		}
	}
	return game.Room{}, fmt.Errorf("make the stage of room %s: no free code in %d tries", code, codeTries)
}
