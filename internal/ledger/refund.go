package ledger

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// ApplyRefund moves what nobody claimed from a round's escrow to its host, once, if the ledger holds exactly the claims that
// the refund names (and what more the host accepted), and the round is not frozen. It says how far the refund is; after
// RefundApplied it does nothing more. On RefundMismatch the caller freezes the round.
func (l *Ledger) ApplyRefund(ctx context.Context, id string) (step game.RefundStep, err error) {
	err = l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		b, err := l.newBooking(ctx, tx, id)
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
		if err := wantOne(tx.NewUpdate().Model(refund).Column("applied_at").WherePK().Where("applied_at = 0").Exec(ctx)); err != nil {
			return err
		}
		return move(ctx, tx, b.purse.escrow(), b.purse.host(), movementRow{
			Round: id, Purpose: forRefund, Cents: int64(rest), MovedAt: b.now,
		})
	})
	if err != nil {
		return "", fmt.Errorf("refund round %s: %w", id, err)
	}
	return step, nil
}

// refundStep is RefundApplied also for a refund that can be applied now.
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

// Interrupt settles with what the ledger holds, for a closed round whose keys are lost: its claims stay, the rest goes back.
// A refund that waits for claims that cannot come any more waits no longer. It may be repeated; of a frozen round nothing
// changes. game.ErrWrongPhase: the round is not closed.
func (l *Ledger) Interrupt(ctx context.Context, id string) error {
	err := l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		b, err := l.newBooking(ctx, tx, id)
		if err != nil {
			return err
		}
		if b.round.Phase != game.Closed {
			return game.ErrWrongPhase
		}
		refund, found, err := readRefund(ctx, tx, id)
		if err != nil || b.round.Frozen || (found && refund.AppliedAt > 0) {
			return err
		}
		if found {
			b.books.AcceptedClaims = b.books.Claims - refund.Claims
			b.books.AcceptedCents = b.books.ClaimedCents - refund.ClaimedCents
			return b.finish(ctx)
		}
		// Counted without what was accepted: applying adds that.
		claims, cents := b.books.Claims-b.books.AcceptedClaims, b.books.ClaimedCents-b.books.AcceptedCents
		_, err = tx.NewInsert().Model(&refundRow{
			Round: id, Reason: string(b.round.Reason), ClosedAt: b.now, Claims: claims, ClaimedCents: cents,
			RefundCents: int64(b.round.Settings.Total) - cents,
		}).Exec(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("interrupt round %s: %w", id, err)
	}
	return nil
}
