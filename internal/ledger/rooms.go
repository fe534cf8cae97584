package ledger

import (
	"context"
	"database/sql"
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

// CreateRoom makes a room under a new join code. The name must be clean, see game.CleanName.
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
		return game.Room{}, fmt.Errorf("read room %s: %w", code, orNotFound(err))
	}
	return row.room(), nil
}

func orNotFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return game.ErrNotFound
	}
	return err
}
