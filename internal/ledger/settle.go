package ledger

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// AllBegunRounds returns every round that was ever begun, in the order of their ids.
func (l *Ledger) AllBegunRounds(ctx context.Context) ([]game.Round, error) {
	var rows []roundRow
	err := l.read.NewSelect().Model(&rows).Where("phase <> ?", game.Draft).Order("id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read begun rounds: %w", err)
	}
	return toRounds(rows), nil
}

// UnsettledRounds returns every begun round that is not settled, or whose keys in Redis have no time to live yet, in the order of
// their ids.
func (l *Ledger) UnsettledRounds(ctx context.Context) ([]game.Round, error) {
	var rows []roundRow
	// Found by round_books.retired, which is false for few rounds; nearly all rounds that ever existed are begun.
	err := l.read.NewSelect().Model(&rows).Join("JOIN round_books AS b ON b.round = ?TableAlias.id").Where("b.retired = ?", false).
		Where("?TableAlias.phase <> ?", game.Draft).OrderExpr("?TableAlias.id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read unsettled rounds: %w", err)
	}
	return toRounds(rows), nil
}

// NoteSettled takes a closed round to settled if its refund was applied and it is not frozen; otherwise the round is returned
// unchanged. Its total of claims becomes what the ledger holds, and its payouts are planned in the same transaction.
func (l *Ledger) NoteSettled(ctx context.Context, id string) (game.Round, error) {
	noted := roundChange{name: "note settled", refused: []game.Phase{game.Draft}}
	return l.changeRound(ctx, id, noted, func(ctx context.Context, tx bun.Tx, round game.Round) error {
		b, err := l.lockBooking(ctx, tx, round)
		if err != nil {
			return err
		}
		refund, found, err := readRefund(ctx, tx, id)
		if err != nil || !found || refund.AppliedAt == 0 || round.Frozen || round.Phase != game.Closed {
			return err
		}
		if err := l.planPayouts(ctx, tx, round); err != nil {
			return err
		}
		return updateRound(ctx, tx, round, func(q *bun.UpdateQuery) *bun.UpdateQuery {
			return q.Set("phase = ?", game.Settled).Set("claimed_packets = ?", min(b.books.Claims, b.round.Settings.Packets)).
				Set("claimed_cents = ?", b.books.ClaimedCents)
		})
	})
}

// NoteKeysExpiring notes that the round's keys in Redis have their final time to live, so that no settler needs to look at the round
// any more.
func (l *Ledger) NoteKeysExpiring(ctx context.Context, id string) error {
	_, err := l.write.NewUpdate().Model((*booksRow)(nil)).Set("retired = ?", true).Where("round = ?", id).Exec(ctx)
	if err != nil {
		return fmt.Errorf("note expiring keys: round %s: %w", id, err)
	}
	return nil
}

// ApplyRefund moves what nobody claimed from a round's escrow to its host, once. It does so if the round is not frozen and the
// ledger holds exactly the claims that the refund names, plus the difference that the host accepted. It returns how far the refund
// is. After RefundApplied further calls change nothing. After RefundMismatch the caller has to freeze the round.
func (l *Ledger) ApplyRefund(ctx context.Context, id string) (step game.RefundStep, err error) {
	err = l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		b, err := l.lockRoundAndBooks(ctx, tx, id)
		if err != nil {
			return err
		}
		refund, found, err := readRefund(ctx, tx, id)
		if err != nil {
			return err
		}
		if step = b.refundStep(refund, found); step != game.RefundApplied || refund.AppliedAt > 0 {
			return nil
		}
		rest := b.round.Settings.Total - game.Cents(b.books.ClaimedCents)
		refund.AppliedAt = b.now
		if err := requireOneRow(tx.NewUpdate().Model(refund).Column("applied_at").WherePK().Where("applied_at = 0").Exec(ctx)); err != nil {
			return err
		}
		return transfer(ctx, tx, b.accounts.escrow(), b.accounts.host(), movementRow{
			Round: id, Purpose: forRefund, Cents: int64(rest), MovedAt: b.now,
		})
	})
	if err != nil {
		return "", fmt.Errorf("refund round %s: %w", id, err)
	}
	return step, nil
}

// refundStep says how far a refund is. It is RefundApplied for one that was applied, and also for one that can be applied now.
func (b *booking) refundStep(refund *refundRow, found bool) game.RefundStep {
	if !found {
		return game.RefundUnknown
	}
	claims, cents := refund.Claims+b.books.AcceptedClaims, refund.ClaimedCents+b.books.AcceptedCents
	switch {
	case refund.AppliedAt > 0:
		return game.RefundApplied
	case b.books.Claims > claims || b.books.ClaimedCents > cents || (b.books.Claims == claims) != (b.books.ClaimedCents == cents),
		b.books.AcceptedCents == 0 && refund.ClaimedCents+refund.RefundCents != int64(b.round.Settings.Total):
		return game.RefundMismatch
	case b.books.Claims < claims || b.round.Frozen:
		return game.RefundWaiting
	}
	return game.RefundApplied
}

// Interrupt prepares the settlement of a closed round whose keys in Redis are lost. What the ledger holds becomes final: booked claims
// stay with their players, and the rest goes back to the host with the next ApplyRefund, which then does not wait for claims that
// cannot come any more. It may be repeated. A frozen round is not changed. game.ErrWrongPhase: the round is not closed.
func (l *Ledger) Interrupt(ctx context.Context, id string) error {
	err := l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		b, err := l.lockRoundAndBooks(ctx, tx, id)
		if err != nil {
			return err
		}
		if b.round.Phase != game.Closed {
			return game.ErrWrongPhase
		}
		if b.round.Frozen {
			return nil
		}
		return b.interrupt(ctx)
	})
	if err != nil {
		return fmt.Errorf("interrupt round %s: %w", id, err)
	}
	return nil
}

// interrupt makes what the ledger holds of a closed round final, unless its refund was applied.
func (b *booking) interrupt(ctx context.Context) error {
	refund, found, err := readRefund(ctx, b.tx, b.round.ID)
	if err != nil || (found && refund.AppliedAt > 0) {
		return err
	}
	if found {
		b.books.AcceptedClaims = b.books.Claims - refund.Claims
		b.books.AcceptedCents = b.books.ClaimedCents - refund.ClaimedCents
		return b.updateBooks(ctx)
	}
	// Without the accepted difference, since refundStep adds it to what the refund names.
	claims, cents := b.books.Claims-b.books.AcceptedClaims, b.books.ClaimedCents-b.books.AcceptedCents
	_, err = b.tx.NewInsert().Model(&refundRow{
		Round: b.round.ID, Reason: string(b.round.Reason), ClosedAt: b.now, Claims: claims, ClaimedCents: cents,
		RefundCents: int64(b.round.Settings.Total) - cents,
	}).Exec(ctx)
	return err
}
