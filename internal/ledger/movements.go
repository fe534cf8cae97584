package ledger

import (
	"context"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// purpose says what a movement is for. Purpose and number are its key in a round: nothing is moved twice. What moves from an
// escrow to a player is a claim, see claimRow.
type purpose string

const (
	forEscrow purpose = "escrow" // host → escrow, when a round begins
	forRefund purpose = "refund" // escrow → host
	forPayout purpose = "payout" // player → paid_out
)

// movementRow is money going from one account to another: two entries that sum to zero, by construction.
type movementRow struct {
	bun.BaseModel `bun:"table:movements"`

	Round   string  `bun:"round,pk"`
	Purpose purpose `bun:"kind,pk"`
	Number  int     `bun:"number,pk"`
	From    string  `bun:"from_account"`
	To      string  `bun:"to_account"`
	Cents   int64   `bun:"cents"`
	MovedAt int64   `bun:"moved_at"`
}

// move moves money once between two accounts; the one that gives must exist.
func move(ctx context.Context, tx bun.Tx, from, to accountRow, m movementRow) error {
	if m.Cents == 0 {
		return nil
	}
	m.From, m.To = from.ID, to.ID
	if _, err := tx.NewInsert().Model(&m).Exec(ctx); err != nil {
		return err
	}
	if err := debit(ctx, tx, from, game.Cents(m.Cents)); err != nil {
		return err
	}
	to.Balance = m.Cents
	return credit(ctx, tx, []accountRow{to}, fullStride)
}

// pay gives the money of claims, which are in the ledger, from a round's escrow to their players, and changes each balance once.
func pay(ctx context.Context, tx bun.Tx, p purse, claims []claimRow, by stride) error {
	var total int64
	gains := make(map[string]int64, len(claims))
	for i := range claims {
		c := &claims[i]
		total += c.Cents
		gains[c.Player] += c.Cents
	}
	if err := debit(ctx, tx, p.escrow(), game.Cents(total)); err != nil {
		return err
	}
	players := make([]accountRow, 0, len(gains))
	for player, gain := range gains {
		account := p.player(player)
		account.Balance = gain
		players = append(players, account)
	}
	return credit(ctx, tx, players, by)
}
