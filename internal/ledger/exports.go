package ledger

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// BookedClaims returns up to limit claims of a round with a number above after, in the order of their numbers, with who made
// them and when.
func (l *Ledger) BookedClaims(ctx context.Context, round string, after, limit int) ([]game.BookedClaim, error) {
	var rows []struct {
		claimRow
		Nickname *string
		Subject  *string
	}
	err := l.read.NewSelect().TableExpr("claims AS c").Join("LEFT JOIN players AS p ON p.id = c.player").
		ColumnExpr("c.number, c.player, c.drop_id, c.cents, c.claimed_at, p.nickname, p.subject").
		Where("c.book = (?)", bookOf(l.read, round)).Where("c.number > ?", after).OrderExpr("c.number").Limit(int64(limit)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read booked claims of round %s: %w", round, err)
	}
	claims := make([]game.BookedClaim, len(rows))
	for i := range rows {
		row := &rows[i]
		claims[i] = game.BookedClaim{Claim: row.claim(), At: game.Moment(row.ClaimedAt), Nickname: text(row.Nickname), Subject: text(row.Subject)}
	}
	return claims, nil
}

func text(column *string) string {
	if column == nil {
		return ""
	}
	return *column
}

// RoomBooks returns where the money of every round is that was begun in a room, the newest first. Rehearsals do not count.
func (l *Ledger) RoomBooks(ctx context.Context, room string) ([]game.RoundBooks, error) {
	var rows []struct {
		roundRow
		Booked  int
		Cents   int64
		Applied int64
		Paid    int64
	}
	paid := l.read.NewSelect().Model((*payoutRow)(nil)).Column("round").ColumnExpr("SUM(cents) AS cents").
		Where("state = ?", game.PayoutPaid).
		Where("round IN (?)", l.read.NewSelect().Model((*roundRow)(nil)).Column("id").Where("room = ?", room)).Group("round")
	err := l.read.NewSelect().TableExpr("rounds AS r").Join("JOIN round_books AS b ON b.round = r.id").
		Join("LEFT JOIN refunds AS f ON f.round = r.id").Join("LEFT JOIN (?) AS p ON p.round = r.id", paid).
		ColumnExpr("r.*, b.claims AS booked, b.claimed_cents AS cents").
		ColumnExpr("COALESCE(f.applied_at, 0) AS applied, COALESCE(p.cents, 0) AS paid").
		Where("r.room = ?", room).Where("r.rehearsal = ?", false).OrderExpr("r.begun_at DESC, r.id").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read the books of room %s: %w", room, err)
	}
	all := make([]game.RoundBooks, len(rows))
	for i := range rows {
		row := &rows[i]
		round, err := row.round()
		if err != nil {
			return nil, err
		}
		books := game.RoundBooks{Round: round, Booked: game.Left{Packets: row.Booked, Cents: game.Cents(row.Cents)}, PaidOut: game.Cents(row.Paid)}
		books.Held = round.Settings.Total - books.Booked.Cents
		if row.Applied > 0 {
			books.Refunded, books.Held = books.Held, 0
		}
		all[i] = books
	}
	return all, nil
}

// Statement returns all movements of the account of a room's host, the oldest first; the last balance is what the account
// holds now. Rehearsals do not count.
func (l *Ledger) Statement(ctx context.Context, room string) ([]game.StatementLine, error) {
	var rows []struct {
		movementRow
		Title string
	}
	// By the rounds' keys, and not by the account: there are two movements a round, and a million of its claims beside them.
	err := l.read.NewSelect().TableExpr("movements AS m").Join("JOIN rounds AS r ON r.id = m.round").
		ColumnExpr("m.round, m.kind, m.from_account, m.to_account, m.cents, m.moved_at, r.title").
		Where("r.room = ?", room).Where("r.rehearsal = ?", false).
		Where("m.kind IN (?)", bun.List([]purpose{forEscrow, forRefund})).OrderExpr("m.moved_at, m.round, m.kind").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read the statement of room %s: %w", room, err)
	}
	host := purse{room: room}.host().ID
	lines := make([]game.StatementLine, len(rows))
	var held game.Cents
	for i := range rows {
		row := &rows[i]
		cents := game.Cents(row.Cents)
		if row.From == host {
			cents = -cents
		}
		held += cents
		lines[i] = game.StatementLine{At: game.Moment(row.MovedAt), Round: row.Round, Title: row.Title, Purpose: string(row.Purpose), Cents: cents, Balance: held}
	}
	return lines, nil
}
