package ledger

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// PlayerOfSubject returns whom the host's own app calls by this subject in a room, or game.ErrNotFound.
func (l *Ledger) PlayerOfSubject(ctx context.Context, room, subject string) (game.Player, error) {
	row := new(playerRow)
	err := l.read.NewSelect().Model(row).Where("room = ?", room).Where("subject = ?", subject).Scan(ctx)
	if err != nil {
		return game.Player{}, fmt.Errorf("read player of a subject: %w", orNotFound(err))
	}
	return row.player(), nil
}

// AddSubject puts somebody whom the host's own app vouches for into a room, once: the same subject is the same player,
// whoever asks first. The nickname must be clean. game.ErrNotFound: there is no such room.
func (l *Ledger) AddSubject(ctx context.Context, room, subject, nickname string) (game.Player, error) {
	if _, err := l.Room(ctx, room); err != nil {
		return game.Player{}, fmt.Errorf("add subject: %w", err)
	}
	row := playerRow{ID: uuid.NewString(), Room: room, Nickname: nickname, Subject: &subject, JoinedAt: l.now().UnixMilli()}
	if _, err := l.write.NewInsert().Model(&row).Ignore().Exec(ctx); err != nil {
		return game.Player{}, fmt.Errorf("add subject: %w", err)
	}
	return l.PlayerOfSubject(ctx, room, subject)
}

// RenamePlayer gives a player of a room another nickname, which must be clean. game.ErrNotFound: nobody in this room.
func (l *Ledger) RenamePlayer(ctx context.Context, room, id, nickname string) (game.Player, error) {
	return l.changePlayer(ctx, room, id, "nickname", nickname)
}

// BlockPlayer keeps a player out of a room, or lets them in again. What they have won stays theirs. game.ErrNotFound:
// nobody in this room.
func (l *Ledger) BlockPlayer(ctx context.Context, room, id string, blocked bool) (game.Player, error) {
	return l.changePlayer(ctx, room, id, "blocked", blocked)
}

func (l *Ledger) changePlayer(ctx context.Context, room, id, column string, value any) (game.Player, error) {
	_, err := l.write.NewUpdate().Model((*playerRow)(nil)).Set("? = ?", bun.Ident(column), value).
		Where("id = ?", id).Where("room = ?", room).Exec(ctx)
	if err != nil {
		return game.Player{}, fmt.Errorf("change the %s of player %s: %w", column, id, err)
	}
	player, err := l.Player(ctx, id)
	if err == nil && player.Room != room {
		err = fmt.Errorf("change the %s of player %s: %w", column, id, game.ErrNotFound)
	}
	return player, err
}

// Blocked returns the ids of a room's blocked players.
func (l *Ledger) Blocked(ctx context.Context, room string) ([]string, error) {
	var ids []string
	err := l.read.NewSelect().Model((*playerRow)(nil)).Column("id").Where("room = ?", room).Where("blocked = ?", true).Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("read the blocked players of room %s: %w", room, err)
	}
	return ids, nil
}
