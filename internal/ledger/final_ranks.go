package ledger

import (
	"context"
	"fmt"
)

// FinalRanks returns everybody who holds claims of a round, the best first: by their sum, and of equals whoever reached it
// with the earlier claim, as on the live leaderboard. It is final once the round is settled.
func (l *Ledger) FinalRanks(ctx context.Context, round string) ([]string, error) {
	var players []string
	err := l.read.NewSelect().Model((*claimRow)(nil)).Column("player").Where("book = (?)", bookOf(l.read, round)).
		Group("player").OrderExpr("SUM(cents) DESC, MAX(number)").Scan(ctx, &players)
	if err != nil {
		return nil, fmt.Errorf("rank the players of round %s: %w", round, err)
	}
	return players, nil
}
