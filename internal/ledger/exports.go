package ledger

import (
	"context"
	"fmt"

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
