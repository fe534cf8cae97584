package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// booksRow is what the ledger holds of one begun round.
type booksRow struct {
	bun.BaseModel `bun:"table:round_books"`

	Book             int64  `bun:"book,pk,autoincrement"`
	Round            string `bun:"round"`
	Claims           int    `bun:"claims"`
	ClaimedCents     int64  `bun:"claimed_cents"`
	Highest          int    `bun:"highest"`
	LossAcceptedUpTo int    `bun:"excused"`
	AcceptedClaims   int    `bun:"accepted_claims"`
	AcceptedCents    int64  `bun:"accepted_cents"`
	ReleasedAt       int64  `bun:"released_at"`
	KeysExpiring     bool   `bun:"retired"`
}

// bookOf finds the number of a round's books, by which its claims name it; none for a round that was never begun.
func bookOf(db bun.IDB, round string) *bun.SelectQuery {
	return db.NewSelect().Model((*booksRow)(nil)).Column("book").Where("round = ?", round)
}

type refundRow struct {
	bun.BaseModel `bun:"table:refunds"`

	Round        string `bun:"round,pk"`
	Reason       string `bun:"reason"`
	ClosedAt     int64  `bun:"closed_at"`
	Claims       int    `bun:"claims"`
	ClaimedCents int64  `bun:"claimed_cents"`
	RefundCents  int64  `bun:"refund_cents"`
	AppliedAt    int64  `bun:"applied_at"`
}

func (r *refundRow) refund() *game.Refund {
	return &game.Refund{
		Reason: game.CloseReason(r.Reason), At: game.Moment(r.ClosedAt),
		Claimed: game.Total{Packets: r.Claims, Cents: game.Cents(r.ClaimedCents)}, Cents: game.Cents(r.RefundCents),
	}
}

// openBooks makes the books of a round and moves its budget from the host into its escrow.
func openBooks(ctx context.Context, tx bun.Tx, round game.Round, now int64) error {
	if _, err := tx.NewInsert().Model(&booksRow{Round: round.ID}).Exec(ctx); err != nil {
		return err
	}
	p := purseOf(round)
	host, escrow := p.host(), p.escrow()
	if _, err := tx.NewInsert().Model(&host).Ignore().Exec(ctx); err != nil {
		return err
	}
	return move(ctx, tx, host, escrow, movementRow{
		Round: round.ID, Purpose: forEscrow, Cents: int64(round.Settings.Total), MovedAt: now,
	})
}

func purseOf(round game.Round) purse {
	return purse{room: round.Room, round: round.ID, rehearsal: round.Rehearsal}
}

// Account returns what the ledger holds of a round. game.ErrNotFound: there is none. game.ErrWrongPhase: it was never begun.
func (l *Ledger) Account(ctx context.Context, id string) (game.Account, error) {
	round, err := l.Round(ctx, id)
	if err != nil {
		return game.Account{}, err
	}
	account, err := readAccount(ctx, l.read, round)
	if errors.Is(err, sql.ErrNoRows) {
		err = game.ErrWrongPhase
	}
	if err != nil {
		return game.Account{}, fmt.Errorf("read account of round %s: %w", id, err)
	}
	return account, nil
}

func readAccount(ctx context.Context, db bun.IDB, round game.Round) (game.Account, error) {
	row := new(booksRow)
	if err := db.NewSelect().Model(row).Where("round = ?", round.ID).Scan(ctx); err != nil {
		return game.Account{}, err
	}
	account := game.Account{
		Round: round, Booked: game.Total{Packets: row.Claims, Cents: game.Cents(row.ClaimedCents)}, Highest: row.Highest, LossAcceptedUpTo: row.LossAcceptedUpTo,
		Accepted: game.Total{Packets: row.AcceptedClaims, Cents: game.Cents(row.AcceptedCents)}, KeysExpiring: row.KeysExpiring,
	}
	var err error
	open := func(model any) int {
		count, failed := db.NewSelect().Model(model).Where("round = ?", round.ID).Where("driven_at = 0").Count(ctx)
		err = errors.Join(err, failed)
		return int(count)
	}
	account.Quarantined = open((*quarantineRow)(nil))
	account.DeadLetters = open((*deadLetterRow)(nil))
	refund, found, failed := readRefund(ctx, db, round.ID)
	if found {
		account.Refund, account.Refunded = refund.refund(), refund.AppliedAt > 0
	}
	return account, errors.Join(err, failed)
}

func readRefund(ctx context.Context, db bun.IDB, round string) (*refundRow, bool, error) {
	row := new(refundRow)
	err := db.NewSelect().Model(row).Where("round = ?", round).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return row, err == nil, err
}
