package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// RoomBooks returns where the money of up to limit rounds is that were begun in a room, the last begun first: of those after
// the round with the id after in this order, or from the start if it is empty. Rehearsals do not count. game.ErrNotFound: there
// is no round after.
func (l *Ledger) RoomBooks(ctx context.Context, room, after string, limit int) ([]game.RoundBooks, error) {
	var rows []roundRow
	query, err := l.begunAfter(ctx, room, after)
	if err == nil {
		err = query.Where("rehearsal = ?", false).Limit(int64(limit)).Scan(ctx, &rows)
	}
	if err != nil {
		return nil, fmt.Errorf("read the books of room %s: %w", room, err)
	}
	books := make([]game.RoundBooks, len(rows))
	for i := range rows {
		if books[i].Round, err = rows[i].round(); err != nil {
			return nil, err
		}
	}
	if err := l.fillBooks(ctx, books); err != nil {
		return nil, fmt.Errorf("read the books of room %s: %w", room, err)
	}
	return books, nil
}

// fillBooks reads what the ledger holds of rounds, some at a time.
func (l *Ledger) fillBooks(ctx context.Context, all []game.RoundBooks) error {
	for len(all) > 0 {
		some := all[:min(idsAtOnce, len(all))]
		all = all[len(some):]
		places := make(map[string]*game.RoundBooks, len(some))
		ids := make([]string, len(some))
		for i := range some {
			ids[i] = some[i].Round.ID
			places[ids[i]] = &some[i]
		}
		if err := l.fillSome(ctx, ids, places); err != nil {
			return err
		}
	}
	return nil
}

func (l *Ledger) fillSome(ctx context.Context, ids []string, places map[string]*game.RoundBooks) error {
	var rows []struct {
		Round                string
		Claims               int
		Cents, Applied, Paid int64
	}
	paid := l.read.NewSelect().TableExpr("payouts AS p").ColumnExpr("SUM(p.cents)").Where("p.round = b.round").Where("p.state = ?", game.PayoutPaid)
	err := l.read.NewSelect().TableExpr("round_books AS b").Join("LEFT JOIN refunds AS f ON f.round = b.round").
		ColumnExpr("b.round, b.claims, b.claimed_cents AS cents, COALESCE(f.applied_at, 0) AS applied, COALESCE((?), 0) AS paid", paid).
		Where("b.round IN (?)", bun.List(ids)).Scan(ctx, &rows)
	for _, row := range rows {
		b := places[row.Round]
		b.Booked, b.PaidOut = game.Total{Packets: row.Claims, Cents: game.Cents(row.Cents)}, game.Cents(row.Paid)
		b.Held = b.Round.Settings.Total - b.Booked.Cents
		if row.Applied > 0 {
			b.Refunded, b.Held = b.Held, 0
		}
	}
	return err
}

// RoomSum returns where the money of all rounds is that were ever begun in a room. Rehearsals do not count.
func (l *Ledger) RoomSum(ctx context.Context, room string) (game.RoomSum, error) {
	var sums struct {
		Budget, Claims, Cents, Refunded int64
	}
	// Round by round, by keys: joined, PostgreSQL reads the books of all rooms beside those of some hundred rounds.
	rounds := l.read.NewSelect().TableExpr("rounds AS r").ColumnExpr("r.total_cents AS budget").
		ColumnExpr("(SELECT b.claims FROM round_books AS b WHERE b.round = r.id) AS claims").
		ColumnExpr("(SELECT b.claimed_cents FROM round_books AS b WHERE b.round = r.id) AS cents").
		ColumnExpr("(SELECT f.applied_at FROM refunds AS f WHERE f.round = r.id) AS applied").
		Where("r.room = ?", room).Where("r.begun_at > 0").Where("r.rehearsal = ?", false)
	err := l.read.NewSelect().TableExpr("(?) AS begun", rounds).
		ColumnExpr("COALESCE(SUM(budget), 0) AS budget, COALESCE(SUM(claims), 0) AS claims, COALESCE(SUM(cents), 0) AS cents").
		ColumnExpr("COALESCE(SUM(CASE WHEN applied > 0 THEN budget - cents ELSE 0 END), 0) AS refunded").Scan(ctx, &sums)
	if err != nil {
		return game.RoomSum{}, fmt.Errorf("sum the books of room %s: %w", room, err)
	}
	paid, err := balance(ctx, l.read, purse{room: room}.paidOut())
	if err != nil && !errors.Is(err, game.ErrNotFound) { // else nothing was paid out yet
		return game.RoomSum{}, fmt.Errorf("sum what was paid out in room %s: %w", room, err)
	}
	sum := game.RoomSum{
		Budget: game.Cents(sums.Budget), Booked: game.Total{Packets: int(sums.Claims), Cents: game.Cents(sums.Cents)},
		Refunded: game.Cents(sums.Refunded), PaidOut: paid,
	}
	sum.Held = sum.Budget - sum.Booked.Cents - sum.Refunded
	return sum, nil
}
