package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// maxIDsPerQuery bounds the ids in one statement: databases limit its length, and with many ids PostgreSQL prefers to read the whole table.
const maxIDsPerQuery = 100

type playerRow struct {
	bun.BaseModel `bun:"table:players"`

	ID       string  `bun:"id,pk"`
	Room     string  `bun:"room"`
	Nickname string  `bun:"nickname"`
	NameKey  *string `bun:"name_key"`
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

// AddPlayer adds a player to a room, or returns game.ErrNotFound if there is no such room. The nickname must be clean, see
// game.CleanName. If another player of the room has it, or one that looks alike, this one gets a number behind it.
func (l *Ledger) AddPlayer(ctx context.Context, room, nickname string) (game.Player, error) {
	if _, err := l.Room(ctx, room); err != nil {
		return game.Player{}, fmt.Errorf("add player: %w", err)
	}
	row := playerRow{ID: uuid.NewString(), Room: room, JoinedAt: l.now().UnixMilli()}
	for name := range namesToTry(nickname) {
		if added, err := l.insertPlayer(ctx, &row, name); err != nil || added {
			return row.player(), wrapError(err, "add player")
		}
	}
	return game.Player{}, fmt.Errorf("add player: %w: too many have this nickname", game.ErrBusy)
}

// namesToTry yields a nickname and then numbered ones, of which one is free before long, however many players of a room chose it: small
// numbers first, then random ones that have more and more digits.
func namesToTry(nickname string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for n := 1; n < 5; n++ {
			if !yield(game.NumberedName(nickname, n)) {
				return
			}
		}
		for below := 100; below <= 1_000_000; below *= 10 {
			for range 3 {
				if !yield(game.NumberedName(nickname, below/10+rand.IntN(below-below/10))) { //nolint:gosec // it hides nothing
					return
				}
			}
		}
	}
}

func (p *playerRow) setName(name string) {
	key := game.NameKey(name)
	p.Nickname, p.NameKey = name, &key
}

// insertPlayer inserts a player under a name. False: a player of the room has that name, one that looks alike, or the subject.
func (l *Ledger) insertPlayer(ctx context.Context, row *playerRow, name string) (bool, error) {
	row.setName(name)
	var result sql.Result
	var err error
	for range deadlockTries {
		if result, err = l.write.NewInsert().Model(row).Ignore().Exec(ctx); err == nil || !l.database.isDeadlock(err) {
			break
		}
	}
	if err != nil {
		return false, err //nolint:wrapcheck // the caller says what for
	}
	added, err := result.RowsAffected()
	return added > 0, err //nolint:wrapcheck // as above
}

// Player returns the player with this id, or game.ErrNotFound.
func (l *Ledger) Player(ctx context.Context, id string) (game.Player, error) {
	row := new(playerRow)
	err := l.read.NewSelect().Model(row).Where("id = ?", id).Scan(ctx)
	if err != nil {
		return game.Player{}, fmt.Errorf("read player %s: %w", id, mapNoRows(err))
	}
	return row.player(), nil
}

// Nicknames returns the nicknames of players by their ids, as everybody may see them. Unknown ids and blocked players are left out.
func (l *Ledger) Nicknames(ctx context.Context, ids []string) (map[string]string, error) {
	return l.nicknames(ctx, ids, func(row *playerRow) bool { return !row.Blocked })
}

// HostNicknames returns the nicknames of players by their ids, as hosts see them: with those of blocked players. Unknown ids are left out.
func (l *Ledger) HostNicknames(ctx context.Context, ids []string) (map[string]string, error) {
	return l.nicknames(ctx, ids, func(*playerRow) bool { return true })
}

func (l *Ledger) nicknames(ctx context.Context, ids []string, isShown func(*playerRow) bool) (map[string]string, error) {
	names := make(map[string]string, len(ids))
	for batch := range slices.Chunk(ids, maxIDsPerQuery) {
		var rows []playerRow
		err := l.read.NewSelect().Model(&rows).Column("id", "nickname", "blocked").Where("id IN (?)", bun.List(batch)).Scan(ctx)
		if err != nil {
			return nil, fmt.Errorf("read nicknames: %w", err)
		}
		for i := range rows {
			if isShown(&rows[i]) {
				names[rows[i].ID] = rows[i].Nickname
			}
		}
	}
	return names, nil
}

// PlayerOfSubject returns the player of a room with this id in the host's own app (the subject of its token), or game.ErrNotFound.
func (l *Ledger) PlayerOfSubject(ctx context.Context, room, subject string) (game.Player, error) {
	row := new(playerRow)
	err := l.read.NewSelect().Model(row).Where("room = ?", room).Where("subject = ?", subject).Scan(ctx)
	if err != nil {
		return game.Player{}, fmt.Errorf("read player of a subject: %w", mapNoRows(err))
	}
	return row.player(), nil
}

// AddSubject adds a player with a token of the host's own app to a room. It adds each subject once; later calls, also concurrent ones,
// return the same player. The nickname must be clean. game.ErrNotFound: there is no such room.
func (l *Ledger) AddSubject(ctx context.Context, room, subject, nickname string) (game.Player, error) {
	if _, err := l.Room(ctx, room); err != nil {
		return game.Player{}, fmt.Errorf("add subject: %w", err)
	}
	row := playerRow{ID: uuid.NewString(), Room: room, Subject: &subject, JoinedAt: l.now().UnixMilli()}
	for name := range namesToTry(nickname) {
		added, err := l.insertPlayer(ctx, &row, name)
		if err != nil || added {
			return row.player(), wrapError(err, "add subject")
		}
		if known, err := l.PlayerOfSubject(ctx, room, subject); !errors.Is(err, game.ErrNotFound) {
			return known, err
		}
	}
	return game.Player{}, fmt.Errorf("add subject: %w: too many have this nickname", game.ErrBusy)
}

// RenamePlayer gives a player of a room another nickname, which must be clean. It may get a number, as with AddPlayer.
// game.ErrNotFound: the room has no such player.
func (l *Ledger) RenamePlayer(ctx context.Context, room, id, nickname string) (player game.Player, err error) {
	var row playerRow
	for name := range namesToTry(nickname) {
		row.setName(name)
		player, err = l.changePlayer(ctx, room, id, row, "nickname", "name_key")
		if err == nil || !l.database.rejects(err) { // the name is taken
			return player, err
		}
	}
	return player, err
}

// BlockPlayer blocks a player in a room, or lifts that. Their claims stay theirs, and their name is shown to hosts alone meanwhile.
// game.ErrNotFound: the room has no such player.
func (l *Ledger) BlockPlayer(ctx context.Context, room, id string, blocked bool) (game.Player, error) {
	return l.changePlayer(ctx, room, id, playerRow{Blocked: blocked}, "blocked")
}

// changePlayer gives some columns of a player the values that they have in another row.
func (l *Ledger) changePlayer(ctx context.Context, room, id string, row playerRow, columns ...string) (game.Player, error) {
	_, err := l.write.NewUpdate().Model(&row).Column(columns...).Where("id = ?", id).Where("room = ?", room).Exec(ctx)
	if err != nil {
		return game.Player{}, fmt.Errorf("change the %s of player %s: %w", columns[0], id, err)
	}
	player, err := l.Player(ctx, id)
	if err == nil && player.Room != room {
		err = fmt.Errorf("change the %s of player %s: %w", columns[0], id, game.ErrNotFound)
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

const (
	// searchBatchSize and maxRowsPerSearch bound a search by name: the rows that one statement reads, and those that one search reads.
	searchBatchSize  = 1000
	maxRowsPerSearch = 20_000

	// maxClockSkew is how far the clocks of instances may differ, and how long an insert may take, without a new player getting a
	// time before a mark that was made earlier. If it is exceeded, the count of older players differs, and the list is read anew.
	maxClockSkew = 2 * time.Second
)

// Guests returns the players of a room that match a query, the newest first.
func (l *Ledger) Guests(ctx context.Context, room string, query game.GuestQuery) (game.GuestPage, error) {
	var page game.GuestPage
	name, batch := game.FoldName(query.Name), searchBatchSize
	if name == "" {
		batch = query.Limit + 1 // one more row shows whether there is a next page
	}
	for looked := 0; looked < maxRowsPerSearch; looked += batch {
		rows, err := l.guestRows(ctx, room, query, batch)
		if err != nil {
			return game.GuestPage{}, fmt.Errorf("read players of room %s: %w", room, err)
		}
		for i := range rows {
			if name == "" || strings.Contains(game.FoldName(rows[i].Nickname), name) {
				if len(page.Players) == query.Limit {
					page.Next = query.Below
					return page, nil
				}
				page.Players = append(page.Players, rows[i].player())
			}
			query.Below = game.GuestPlace{JoinedAt: rows[i].JoinedAt, ID: rows[i].ID}
		}
		if len(rows) < batch {
			return page, nil
		}
	}
	page.Next = query.Below
	return page, nil
}

// guestRows reads up to limit rows from the cursor on, by the index of room and joined_at.
func (l *Ledger) guestRows(ctx context.Context, room string, query game.GuestQuery, limit int) ([]playerRow, error) {
	var rows []playerRow
	q := l.read.NewSelect().Model(&rows).Where("room = ?", room)
	if query.Since > 0 {
		q.Where("joined_at >= ?", query.Since)
	}
	if below := query.Below; below != (game.GuestPlace{}) {
		q.Where("joined_at <= ?", below.JoinedAt).Where("(joined_at < ? OR id < ?)", below.JoinedAt, below.ID)
	}
	return rows, q.Order("joined_at DESC", "id DESC").Limit(int64(limit)).Scan(ctx)
}

// CountGuests counts the players of a room, and those who joined before a time in ms since 1970. A caller that reads the players
// afterwards misses nobody by using the returned mark: a player who joins in between is read too, or makes the count of older players
// differ next time.
func (l *Ledger) CountGuests(ctx context.Context, room string, before int64) (game.GuestCount, error) {
	var newest int64
	players := l.read.NewSelect().Model((*playerRow)(nil)).Where("room = ?", room)
	if err := players.Clone().ColumnExpr("COALESCE(MAX(joined_at), 0)").Scan(ctx, &newest); err != nil {
		return game.GuestCount{}, fmt.Errorf("read the newest player of room %s: %w", room, err)
	}
	count := game.GuestCount{Latest: game.GuestMark{At: max(1, newest-maxClockSkew.Milliseconds())}}
	err := players.ColumnExpr("COUNT(*)").ColumnExpr("COUNT(CASE WHEN joined_at < ? THEN 1 END)", before).
		ColumnExpr("COUNT(CASE WHEN joined_at < ? THEN 1 END)", count.Latest.At).Scan(ctx, &count.Total, &count.Older, &count.Latest.Older)
	if err != nil {
		return game.GuestCount{}, fmt.Errorf("count the players of room %s: %w", room, err)
	}
	return count, nil
}
