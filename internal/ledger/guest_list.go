package ledger

import (
	"context"
	"fmt"
	"strings"
	"time"

	"redrain/internal/game"
)

const (
	// searchedAtOnce and searchedMost bound a search by name: the rows in one statement, and those that one search looks at.
	searchedAtOnce = 1000
	searchedMost   = 20_000

	// joinsSettle is how far the clocks of instances may be apart, and an insert may take, without a new player being
	// stamped as older than a mark. Beyond that the count of older players differs, and the list is read anew.
	joinsSettle = 2 * time.Second
)

// Guests returns the players of a room that are wanted, the newest first.
func (l *Ledger) Guests(ctx context.Context, room string, query game.GuestQuery) (game.GuestPage, error) {
	var page game.GuestPage
	name, batch := game.FoldName(query.Name), searchedAtOnce
	if name == "" {
		batch = query.Limit + 1 // one more tells whether there is a next page
	}
	for looked := 0; looked < searchedMost; looked += batch {
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

// guestRows reads up to limit rows from a place on, by the index of room and joined_at.
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

// CountGuests counts the players of a room, and those who joined before the ms since 1970. Whoever reads players afterwards
// can rely on the mark: who joins in between is read as well, or makes the count of older ones differ next time.
func (l *Ledger) CountGuests(ctx context.Context, room string, before int64) (game.GuestCount, error) {
	var newest int64
	players := l.read.NewSelect().Model((*playerRow)(nil)).Where("room = ?", room)
	if err := players.Clone().ColumnExpr("COALESCE(MAX(joined_at), 0)").Scan(ctx, &newest); err != nil {
		return game.GuestCount{}, fmt.Errorf("read the newest player of room %s: %w", room, err)
	}
	count := game.GuestCount{Latest: game.GuestMark{At: max(1, newest-joinsSettle.Milliseconds())}}
	err := players.ColumnExpr("COUNT(*)").ColumnExpr("COUNT(CASE WHEN joined_at < ? THEN 1 END)", before).
		ColumnExpr("COUNT(CASE WHEN joined_at < ? THEN 1 END)", count.Latest.At).Scan(ctx, &count.Total, &count.Older, &count.Latest.Older)
	if err != nil {
		return game.GuestCount{}, fmt.Errorf("count the players of room %s: %w", room, err)
	}
	return count, nil
}
