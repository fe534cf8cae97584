package ledger

import (
	"cmp"
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// NoteFrozen freezes an active or closed round. Its phase stays, and an active one keeps its room. A round that is frozen already
// keeps its first reason. game.ErrWrongPhase: the round is a draft, or settled.
func (l *Ledger) NoteFrozen(ctx context.Context, id string, why game.FreezeReason) (game.Round, error) {
	noted := roundChange{name: "note frozen", refused: []game.Phase{game.Draft, game.Settled}}
	return l.changeRound(ctx, id, noted, func(ctx context.Context, tx bun.Tx, round game.Round) error {
		_, err := freeze(ctx, tx, round, why)
		return err
	})
}

// NoteFault freezes a round for what was found wrong with it as it was read. One that was frozen or released since is not changed: whoever
// did that may have known of it. frozen reports whether this call froze it. game.ErrWrongPhase: the round is a draft, or settled.
func (l *Ledger) NoteFault(ctx context.Context, read game.Round, why game.FreezeReason) (round game.Round, frozen bool, err error) {
	noted := roundChange{name: "note fault", refused: []game.Phase{game.Draft, game.Settled}}
	round, err = l.changeRound(ctx, read.ID, noted, func(ctx context.Context, tx bun.Tx, round game.Round) error {
		if frozen = !round.Frozen && round.FreezeVersion == read.FreezeVersion; !frozen {
			return nil
		}
		_, err := freezeAs(ctx, tx, round, why)
		return err
	})
	return round, frozen && err == nil, err
}

// NoteLost notes that Redis has lost claims of a round: it granted numbers up to this one, and does not have all of them any more.
// It freezes the round, except if a host has accepted the loss of this number already, or the round is settled: nothing changes then.
//
// Several instances may notice the same loss; first is true for exactly one of these calls. That is the one that found the
// round not frozen, or frozen merely for lost keys and reported a greater number than the ledger knew.
// game.ErrNotFound: the round was never begun.
func (l *Ledger) NoteLost(ctx context.Context, id string, number int) (round game.Round, first bool, err error) {
	err = l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		first = false
		b, err := l.lockRoundAndBooks(ctx, tx, id)
		if err != nil {
			return err
		}
		round = b.round
		if number <= b.books.LossAcceptedUpTo || round.Phase == game.Settled {
			return nil
		}
		news := number > b.books.Highest
		if news { // stored so that all settlers know of it, and that a release accepts it
			b.books.Highest = number
			if err := b.updateBooks(ctx); err != nil {
				return err
			}
		}
		first = !round.Frozen || (news && round.FreezeReason == game.FrozenKeysLost)
		if first {
			round, err = freezeAs(ctx, tx, round, game.FrozenClaimsLost)
		}
		return err
	})
	if err != nil {
		return game.Round{}, false, fmt.Errorf("note lost claims: round %s: %w", id, err)
	}
	return round, first, nil
}

// NoteReleased ends the freeze of a round, and accepts the present difference between its books and Redis. mark is what Redis holds;
// nil: it holds nothing of the round, which is settled from the ledger if it is closed, see Interrupt. Nothing may have been granted
// since mark was read, and no claim may be on its way to the ledger. A different difference freezes the round again. game.ErrWrongPhase: the round is a draft, or settled.
func (l *Ledger) NoteReleased(ctx context.Context, id string, mark *game.Watermark) (game.Round, error) {
	noted := roundChange{name: "note released", refused: []game.Phase{game.Draft, game.Settled}}
	return l.changeRound(ctx, id, noted, func(ctx context.Context, tx bun.Tx, round game.Round) error {
		b, err := l.lockBooking(ctx, tx, round)
		if err != nil || !round.Frozen {
			return err // not frozen: another call has released it
		}
		if err := b.accept(ctx, mark); err != nil {
			return err
		}
		if mark == nil && round.Phase == game.Closed { // here, since settlers would freeze it again without that
			if err := b.interrupt(ctx); err != nil {
				return err
			}
		}
		return updateRound(ctx, tx, round, func(q *bun.UpdateQuery) *bun.UpdateQuery {
			return q.Set("frozen = ?", false).Set("freeze_reason = ''").Set("freeze_version = ?", round.FreezeVersion+1)
		})
	})
}

// accept stores the present difference between the books and Redis as the accepted one.
func (b *booking) accept(ctx context.Context, mark *game.Watermark) error {
	b.books.LossAcceptedUpTo, b.books.ReleasedAt = b.books.Highest, b.now
	if mark != nil {
		b.books.AcceptedClaims = b.books.Claims - mark.Claimed.Packets
		b.books.AcceptedCents = b.books.ClaimedCents - int64(mark.Claimed.Cents)
	}
	err := b.updateBooks(ctx)
	if err != nil || mark == nil || mark.Phase != game.Closed {
		return err
	}
	return b.acceptRefund(ctx, mark)
}

// acceptRefund replaces a refund that was not applied yet with what Redis holds.
func (b *booking) acceptRefund(ctx context.Context, mark *game.Watermark) error {
	refund, found, err := readRefund(ctx, b.tx, b.round.ID)
	if err != nil || (found && refund.AppliedAt > 0) {
		return err
	}
	if !found {
		refund = &refundRow{Round: b.round.ID, Reason: string(cmp.Or(b.round.Reason, game.Stopped)), ClosedAt: int64(mark.Now)}
	}
	refund.Claims, refund.ClaimedCents, refund.RefundCents = mark.Claimed.Packets, int64(mark.Claimed.Cents), int64(mark.Refunded)
	if found {
		return requireOneRow(b.tx.NewUpdate().Model(refund).WherePK().Where("applied_at = 0").Exec(ctx))
	}
	_, err = b.tx.NewInsert().Model(refund).Exec(ctx)
	return err
}

// freeze freezes a locked round and returns it as it is afterwards. A round that is frozen already, a draft and a settled round are
// not changed.
func freeze(ctx context.Context, tx bun.Tx, round game.Round, why game.FreezeReason) (game.Round, error) {
	if round.Frozen || round.Phase == game.Draft || round.Phase == game.Settled {
		return round, nil
	}
	return freezeAs(ctx, tx, round, why)
}

// freezeAs freezes a locked round that is active or closed, or gives a frozen one another reason.
func freezeAs(ctx context.Context, tx bun.Tx, round game.Round, why game.FreezeReason) (game.Round, error) {
	frozen := round
	frozen.Frozen, frozen.FreezeReason, frozen.FreezeVersion = true, why, round.FreezeVersion+1
	err := updateRound(ctx, tx, round, func(q *bun.UpdateQuery) *bun.UpdateQuery {
		return q.Set("frozen = ?", true).Set("freeze_reason = ?", why).Set("freeze_version = ?", frozen.FreezeVersion)
	})
	return frozen, err
}
