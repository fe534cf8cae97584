package ledger

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// idsAtOnce bounds the ids in one statement: databases limit its length, and for many PostgreSQL rather reads the whole table.
const idsAtOnce = 100

type playerRow struct {
	bun.BaseModel `bun:"table:players"`

	ID       string  `bun:"id,pk"`
	Room     string  `bun:"room"`
	Nickname string  `bun:"nickname"`
	Blocked  bool    `bun:"blocked"`
	Subject  *string `bun:"subject"`
	JoinedAt int64   `bun:"joined_at"`
}

func (p *playerRow) player() game.Player {
	player := game.Player{ID: p.ID, Room: p.Room, Nickname: p.Nickname, Blocked: p.Blocked, JoinedAt: time.UnixMilli(p.JoinedAt)}
	if p.Subject != nil {
		player.Subject = *p.Subject
	}
	return player
}

// AddPlayer puts somebody into a room, or returns game.ErrNotFound if there is no such room. The nickname must be clean,
// see game.CleanName; two players may have the same.
func (l *Ledger) AddPlayer(ctx context.Context, room, nickname string) (game.Player, error) {
	if _, err := l.Room(ctx, room); err != nil {
		return game.Player{}, fmt.Errorf("add player: %w", err)
	}
	row := playerRow{ID: uuid.NewString(), Room: room, Nickname: nickname, JoinedAt: l.now().UnixMilli()}
	if _, err := l.write.NewInsert().Model(&row).Exec(ctx); err != nil {
		return game.Player{}, fmt.Errorf("add player: %w", err)
	}
	return row.player(), nil
}

// Player returns the player with this id, or game.ErrNotFound.
func (l *Ledger) Player(ctx context.Context, id string) (game.Player, error) {
	row := new(playerRow)
	err := l.read.NewSelect().Model(row).Where("id = ?", id).Scan(ctx)
	if err != nil {
		return game.Player{}, fmt.Errorf("read player %s: %w", id, orNotFound(err))
	}
	return row.player(), nil
}

// Nicknames returns the nicknames of players by their ids. Ids that nobody has are left out.
func (l *Ledger) Nicknames(ctx context.Context, ids []string) (map[string]string, error) {
	names := make(map[string]string, len(ids))
	for some := range slices.Chunk(ids, idsAtOnce) {
		var rows []playerRow
		err := l.read.NewSelect().Model(&rows).Column("id", "nickname").Where("id IN (?)", bun.List(some)).Scan(ctx)
		if err != nil {
			return nil, fmt.Errorf("read nicknames: %w", err)
		}
		for i := range rows {
			names[rows[i].ID] = rows[i].Nickname
		}
	}
	return names, nil
}
