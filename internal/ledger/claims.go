package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// claimRow is what a player was told, and the movement of its money from the round's escrow to the player: two entries that
// sum to zero, by construction.
type claimRow struct {
	bun.BaseModel `bun:"table:claims"`

	Book      int64  `bun:"book,pk"` // of the round
	Number    int    `bun:"number,pk"`
	Player    string `bun:"player"`
	Drop      int32  `bun:"drop_id"`
	Cents     int64  `bun:"cents"`
	ClaimedAt int64  `bun:"claimed_at"`
}

func claimRowOf(book int64, c game.Claim, at game.Moment) claimRow {
	return claimRow{Book: book, Number: c.Number, Player: c.Player, Drop: int32(c.Drop), Cents: int64(c.Cents), ClaimedAt: int64(at)}
}

func (r *claimRow) claim() game.Claim {
	return game.Claim{Player: r.Player, Drop: game.DropID(r.Drop), Cents: game.Cents(r.Cents), Number: r.Number}
}

// anyDrop is true of every claim. With it a statement names all columns of the key that claims are found by for a player: else
// SQLite, unless its tables were analyzed, rather reads all claims of the round.
const anyDrop = "drop_id >= -2147483648"

// longestID is what columns of ids hold, in bytes.
const longestID = 100

// possible is asked before a claim is inserted: an INSERT that ignores what is there already also bends, in MySQL and MariaDB,
// or leaves out what else would be an error.
func (r *claimRow) possible() bool {
	return r.Number >= 1 && r.Cents >= 1 && len(r.Player) <= longestID
}

// equal compares what was granted; when is no part of it.
func (r *claimRow) equal(c *claimRow) bool {
	return r.Number == c.Number && r.Player == c.Player && r.Drop == c.Drop && r.Cents == c.Cents
}

// Claims returns up to limit claims of a round with a number above after, in the order of their numbers.
func (l *Ledger) Claims(ctx context.Context, round string, after, limit int) ([]game.Claim, error) {
	var rows []claimRow
	err := l.read.NewSelect().Model(&rows).Where("book = (?)", bookOf(l.read, round)).Where("number > ?", after).
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
	for some := range slices.Chunk(players, idsAtOnce) {
		var rows []claimRow
		// Sorted here: to have them in the order of their numbers, SQLite rather reads all claims of the round.
		err := l.read.NewSelect().Model(&rows).Where("book = (?)", bookOf(l.read, round)).Where("player IN (?)", bun.List(some)).
			Where(anyDrop).Scan(ctx)
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

// lastNumber is the greatest number of a round's claims; 0: it has none.
func lastNumber(ctx context.Context, tx bun.Tx, round string) (last int, err error) {
	err = tx.NewSelect().Model((*claimRow)(nil)).ColumnExpr("COALESCE(MAX(number), 0)").Where("book = (?)", bookOf(tx, round)).
		Scan(ctx, &last)
	return last, err
}

// SumClaims counts and sums the claims of a round with numbers above after and up to last.
func (l *Ledger) SumClaims(ctx context.Context, round string, after, last int) (game.Total, error) {
	var count int
	var cents int64
	err := l.read.NewSelect().Model((*claimRow)(nil)).ColumnExpr("COUNT(*), COALESCE(SUM(cents), 0)").
		Where("book = (?)", bookOf(l.read, round)).Where("number > ?", after).Where("number <= ?", last).Scan(ctx, &count, &cents)
	if err != nil {
		return game.Total{}, fmt.Errorf("sum claims of round %s: %w", round, err)
	}
	return game.Total{Packets: count, Cents: game.Cents(cents)}, nil
}
