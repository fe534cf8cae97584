package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// claimRow is a booked claim: a packet that Redis granted to a player. It also stands for the movement of its money from the round's
// escrow to the player: one row for both entries, so these sum to zero.
type claimRow struct {
	bun.BaseModel `bun:"table:claims"`

	Book      int64  `bun:"book,pk"` // of the round
	Number    int    `bun:"number,pk"`
	Player    string `bun:"player"`
	Drop      int32  `bun:"drop_id"`
	Cents     int64  `bun:"cents"`
	ClaimedAt int64  `bun:"claimed_at"`
}

func newClaimRow(book int64, c game.Claim, at game.Moment) claimRow {
	return claimRow{Book: book, Number: c.Number, Player: c.Player, Drop: int32(c.Drop), Cents: int64(c.Cents), ClaimedAt: int64(at)}
}

func (r *claimRow) claim() game.Claim {
	return game.Claim{Player: r.Player, Drop: game.DropID(r.Drop), Cents: game.Cents(r.Cents), Number: r.Number}
}

// matchAnyDrop is a condition that every claim meets. It makes a statement name all columns of the index by book, player and drop.
// Without it SQLite, if its tables were never analyzed, reads all claims of the round instead of using that index.
const matchAnyDrop = "drop_id >= -2147483648"

// maxIDLength is the most bytes that columns of ids hold.
const maxIDLength = 100

// insertable reports that no column refuses the values of a claim. It has to be checked before, since claims are inserted with INSERT
// IGNORE to skip those that exist already. In MySQL and MariaDB that also silently changes values that do not fit (it cuts off a
// text that is too long), and it skips rows that violate a CHECK, where a plain INSERT would return an error.
func (r *claimRow) insertable() bool {
	return r.Number >= 1 && r.Cents >= 1 && len(r.Player) <= maxIDLength
}

// equal compares what was granted; the time of the claim does not count.
func (r *claimRow) equal(c *claimRow) bool {
	return r.Number == c.Number && r.Player == c.Player && r.Drop == c.Drop && r.Cents == c.Cents
}

// Claims returns up to limit claims of a round with a number above after, in the order of their numbers.
func (l *Ledger) Claims(ctx context.Context, round string, after, limit int) ([]game.Claim, error) {
	var rows []claimRow
	err := l.read.NewSelect().Model(&rows).Where("book = (?)", selectBook(l.read, round)).Where("number > ?", after).
		Order("number").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read claims of round %s: %w", round, err)
	}
	claims := make([]game.Claim, len(rows))
	for i := range rows {
		claims[i] = rows[i].claim()
	}
	return claims, nil
}

// ClaimsOf returns the claims that each of the players has in a round, in the order of their numbers. Players without any
// are absent.
func (l *Ledger) ClaimsOf(ctx context.Context, round string, players ...string) (map[string][]game.Claim, error) {
	held := make(map[string][]game.Claim)
	for batch := range slices.Chunk(players, maxIDsPerQuery) {
		var rows []claimRow
		// Sorted here and not by ORDER BY number, for which SQLite would read all claims of the round.
		err := l.read.NewSelect().Model(&rows).Where("book = (?)", selectBook(l.read, round)).Where("player IN (?)", bun.List(batch)).
			Where(matchAnyDrop).Scan(ctx)
		if err != nil {
			return nil, fmt.Errorf("read players' claims of round %s: %w", round, err)
		}
		slices.SortFunc(rows, func(a, b claimRow) int { return a.Number - b.Number })
		for i := range rows {
			held[rows[i].Player] = append(held[rows[i].Player], rows[i].claim())
		}
	}
	return held, nil
}

// lastNumber is the greatest number of a round's booked claims; 0: it has none.
func lastNumber(ctx context.Context, tx bun.Tx, round string) (last int, err error) {
	err = tx.NewSelect().Model((*claimRow)(nil)).ColumnExpr("COALESCE(MAX(number), 0)").Where("book = (?)", selectBook(tx, round)).
		Scan(ctx, &last)
	return last, err
}

// SumClaims counts and sums the claims of a round with numbers above after and up to last.
func (l *Ledger) SumClaims(ctx context.Context, round string, after, last int) (game.Total, error) {
	var count int
	var cents int64
	err := l.read.NewSelect().Model((*claimRow)(nil)).ColumnExpr("COUNT(*), COALESCE(SUM(cents), 0)").
		Where("book = (?)", selectBook(l.read, round)).Where("number > ?", after).Where("number <= ?", last).Scan(ctx, &count, &cents)
	if err != nil {
		return game.Total{}, fmt.Errorf("sum claims of round %s: %w", round, err)
	}
	return game.Total{Packets: count, Cents: game.Cents(cents)}, nil
}
