package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// Payouts returns up to limit payouts of a round with a number above after, in the order of their numbers, without their
// claims. Those of a plan come into being little by little.
func (l *Ledger) Payouts(ctx context.Context, round string, after, limit int) ([]game.Payout, error) {
	of, err := readRound(ctx, l.read, round)
	if err != nil {
		return nil, orWrapped(err, "read payouts of round "+round)
	}
	var rows []payoutRow
	err = l.read.NewSelect().Model(&rows).Where("round = ?", round).Where("number > ?", after).Order("number").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, orWrapped(err, "read payouts of round "+round)
	}
	payouts := make([]game.Payout, len(rows))
	for i := range rows {
		payouts[i] = rows[i].payout(of.Room)
	}
	return payouts, nil
}

// PayoutSums says what became of a round's claims.
func (l *Ledger) PayoutSums(ctx context.Context, round string) (game.PayoutSums, error) {
	var sums game.PayoutSums
	var rows []struct {
		State  game.PayoutState
		Claims int
		Cents  int64
	}
	err := l.read.NewSelect().Model((*payoutRow)(nil)).Column("state").ColumnExpr("SUM(claims) AS claims, SUM(cents) AS cents").
		Where("round = ?", round).Where("state <> ?", game.PayoutPending).Group("state").Scan(ctx, &rows)
	if err != nil {
		return sums, orWrapped(err, "sum payouts of round "+round)
	}
	for _, row := range rows {
		left := game.Total{Packets: row.Claims, Cents: game.Cents(row.Cents)}
		if row.State == game.PayoutPaid {
			sums.Paid = left
		} else {
			sums.Failed = left
		}
	}
	plan, books := new(payoutPlanRow), new(booksRow)
	err = l.read.NewSelect().Model(plan).Where("round = ?", round).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return sums, nil
	}
	if err == nil {
		err = l.read.NewSelect().Model(books).Where("round = ?", round).Scan(ctx)
	}
	sums.Planned = true
	sums.Pending.Packets = books.Claims - sums.Paid.Packets - sums.Failed.Packets
	sums.Pending.Cents = game.Cents(books.ClaimedCents) - sums.Paid.Cents - sums.Failed.Cents
	return sums, orWrapped(err, "sum payouts of round "+round)
}

// ResendPayouts makes the payouts of a settled round due now that failed, or that wait for their next attempt, with all attempts
// before them. One that was settled without payouts gets them. It returns how many are due now, of those that were made.
// game.ErrWrongPhase: the round is not settled, or a rehearsal. game.ErrOff: there are no payouts. game.ErrNotFound.
func (l *Ledger) ResendPayouts(ctx context.Context, id string) (again int, err error) {
	err = l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		round, err := lockRound(ctx, tx, id)
		switch {
		case err != nil:
			return err
		case round.Phase != game.Settled || round.Rehearsal:
			return game.ErrWrongPhase
		case l.payouts == 0:
			return game.ErrOff
		}
		if err := l.insertPlan(ctx, tx, id); err != nil {
			return err
		}
		result, err := tx.NewUpdate().Model((*payoutRow)(nil)).Set("state = ?", game.PayoutPending).Set("attempts = 0").
			Set("tried_at = 0").Set("due_at = ?", l.now().UnixMilli()).Where("round = ?", id).
			Where("state <> ?", game.PayoutPaid).Where("holder = ''").Exec(ctx)
		if err != nil {
			return err
		}
		count, err := result.RowsAffected()
		again = int(count)
		return err
	})
	return again, orWrapped(err, "send payouts of round "+id+" again")
}

// orWrapped says what could not be done.
func orWrapped(err error, doing string) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}
