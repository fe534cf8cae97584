package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// codeTries bounds the search for a free join code. With 31^6 codes and a million rooms, one try in 900 collides.
const codeTries = 20

type roomRow struct {
	bun.BaseModel `bun:"table:rooms"`

	Code        string  `bun:"code,pk"`
	Name        string  `bun:"name"`
	ActiveRound *string `bun:"active_round"`
	Locked      bool    `bun:"locked"`
	AppOnly     bool    `bun:"app_only"`
	StageOf     *string `bun:"stage_of"`
	CreatedAt   int64   `bun:"created_at"`
}

func (r *roomRow) room() game.Room {
	room := game.Room{Code: r.Code, Name: r.Name, Locked: r.Locked, AppOnly: r.AppOnly, CreatedAt: time.UnixMilli(r.CreatedAt)}
	if r.StageOf != nil {
		room.StageOf = *r.StageOf
	}
	return room
}

// CreateRoom creates a room under a new join code. The name must be clean, see game.CleanName.
func (l *Ledger) CreateRoom(ctx context.Context, name string) (game.Room, error) {
	for range codeTries {
		row := roomRow{Code: l.newCode(), Name: name, CreatedAt: l.now().UnixMilli()}
		result, err := l.write.NewInsert().Model(&row).Ignore().Exec(ctx)
		if err != nil {
			return game.Room{}, fmt.Errorf("create room: %w", err)
		}
		if made, err := result.RowsAffected(); err != nil || made == 1 {
			return row.room(), err
		}
	}
	return game.Room{}, fmt.Errorf("create room: no free code in %d tries", codeTries)
}

// Room returns the room with this code, or game.ErrNotFound.
func (l *Ledger) Room(ctx context.Context, code string) (game.Room, error) {
	row := new(roomRow)
	err := l.read.NewSelect().Model(row).Where("code = ?", code).Scan(ctx)
	if err != nil {
		return game.Room{}, fmt.Errorf("read room %s: %w", code, mapNoRows(err))
	}
	return row.room(), nil
}

// SetAccessPolicy sets who may join a room: locked keeps all new players out, appOnly those without a token of the host's own app.
// Players who have joined stay. game.ErrNotFound: there is no such room.
func (l *Ledger) SetAccessPolicy(ctx context.Context, code string, locked, appOnly bool) (game.Room, error) {
	_, err := l.write.NewUpdate().Model((*roomRow)(nil)).Set("locked = ?", locked).Set("app_only = ?", appOnly).
		Where("code = ?", code).Exec(ctx)
	if err != nil {
		return game.Room{}, fmt.Errorf("set the access policy of room %s: %w", code, err)
	}
	return l.Room(ctx, code)
}

// Stage returns the hidden room in which a room's rehearsals are played, and creates it the first time. It is a room of its own with
// its own code, so that everything that separates rooms also separates rehearsals from the audience. It is locked, and its
// code is told to nobody. game.ErrNotFound: there is no such room.
func (l *Ledger) Stage(ctx context.Context, code string) (game.Room, error) {
	room, err := l.Room(ctx, code)
	if err != nil {
		return game.Room{}, fmt.Errorf("find the stage: %w", err)
	}
	for range codeTries {
		stage := new(roomRow)
		err := l.read.NewSelect().Model(stage).Where("stage_of = ?", code).Scan(ctx)
		if err = mapNoRows(err); err == nil || !errors.Is(err, game.ErrNotFound) {
			return stage.room(), err
		}
		// If two calls create it at once, one insert is ignored, and that call finds the row of the other one.
		row := roomRow{Code: l.newCode(), Name: room.Name, Locked: true, StageOf: &code, CreatedAt: l.now().UnixMilli()}
		if _, err := l.write.NewInsert().Model(&row).Ignore().Exec(ctx); err != nil {
			return game.Room{}, fmt.Errorf("make the stage of room %s: %w", code, err)
		}
	}
	return game.Room{}, fmt.Errorf("make the stage of room %s: no free code in %d tries", code, codeTries)
}
