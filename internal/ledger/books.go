package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// booksRow is what the ledger holds of one begun round. Highest is the greatest claim number that ever came; up to LossAcceptedUpTo a
// host has accepted that Redis lost claims. AcceptedClaims and AcceptedCents are how much more the ledger holds than Redis, as a host
// accepted it when the round was released at ReleasedAt (ms since 1970); negative if it holds less.
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

// selectBook selects the number of a round's books, which its claims refer to; no row for a round that was never begun.
func selectBook(db bun.IDB, round string) *bun.SelectQuery {
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

// openBooks creates the books of a round and moves its budget from the host into its escrow.
func openBooks(ctx context.Context, tx bun.Tx, round game.Round, now int64) error {
	if _, err := tx.NewInsert().Model(&booksRow{Round: round.ID}).Exec(ctx); err != nil {
		return err
	}
	p := accountsOf(round)
	host, escrow := p.host(), p.escrow()
	if _, err := tx.NewInsert().Model(&host).Ignore().Exec(ctx); err != nil {
		return err
	}
	return transfer(ctx, tx, host, escrow, movementRow{
		Round: round.ID, Purpose: forEscrow, Cents: int64(round.Settings.Total), MovedAt: now,
	})
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
		books[i].Round = rows[i].round()
	}
	if err := l.fillBooks(ctx, books); err != nil {
		return nil, fmt.Errorf("read the books of room %s: %w", room, err)
	}
	return books, nil
}

// fillBooks reads what the ledger holds of rounds, in batches.
func (l *Ledger) fillBooks(ctx context.Context, all []game.RoundBooks) error {
	for len(all) > 0 {
		batch := all[:min(maxIDsPerQuery, len(all))]
		all = all[len(batch):]
		places := make(map[string]*game.RoundBooks, len(batch))
		ids := make([]string, len(batch))
		for i := range batch {
			ids[i] = batch[i].Round.ID
			places[ids[i]] = &batch[i]
		}
		if err := l.fillBooksBatch(ctx, ids, places); err != nil {
			return err
		}
	}
	return nil
}

func (l *Ledger) fillBooksBatch(ctx context.Context, ids []string, places map[string]*game.RoundBooks) error {
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
	// Subqueries by key for each round: with a join PostgreSQL reads the books of all rooms for some hundred rounds of one room.
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
	paid, err := balance(ctx, l.read, roundAccounts{room: room}.paidOut())
	if err != nil && !errors.Is(err, game.ErrNotFound) { // not found: nothing was paid out yet
		return game.RoomSum{}, fmt.Errorf("sum what was paid out in room %s: %w", room, err)
	}
	sum := game.RoomSum{
		Budget: game.Cents(sums.Budget), Booked: game.Total{Packets: int(sums.Claims), Cents: game.Cents(sums.Cents)},
		Refunded: game.Cents(sums.Refunded), PaidOut: paid,
	}
	sum.Held = sum.Budget - sum.Booked.Cents - sum.Refunded
	return sum, nil
}
