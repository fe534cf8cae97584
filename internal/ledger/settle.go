package ledger

import (
	"cmp"
	"context"
	"errors"
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
	return roundsOf(rows)
}

// UnsettledRounds returns every begun round that is not settled, or whose keys in Redis still wait for their end, in the order of
// their ids.
func (l *Ledger) UnsettledRounds(ctx context.Context) ([]game.Round, error) {
	var rows []roundRow
	// By the books that are not retired, which are few: nearly all rounds that there ever were are begun.
	err := l.read.NewSelect().Model(&rows).Join("JOIN round_books AS b ON b.round = ?TableAlias.id").Where("b.retired = ?", false).
		Where("?TableAlias.phase <> ?", game.Draft).OrderExpr("?TableAlias.id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read unsettled rounds: %w", err)
	}
	return roundsOf(rows)
}

// NoteSettled takes a closed round to settled. The ledger must hold the refund and be what the refund names, and the round
// must not be frozen, else it stays and is returned as it is. What it gave away is from then on what the ledger holds, and its
// payouts are planned in the same transaction.
func (l *Ledger) NoteSettled(ctx context.Context, id string) (game.Round, error) {
	noted := step{name: "note settled", refused: []game.Phase{game.Draft}}
	return l.step(ctx, id, noted, func(ctx context.Context, tx bun.Tx, round game.Round) error {
		b, err := l.bookingFor(ctx, tx, round)
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

// NoteKeysExpiring notes that the round's keys in Redis have been given their last time to live: nobody looks after it any more.
func (l *Ledger) NoteKeysExpiring(ctx context.Context, id string) error {
	_, err := l.write.NewUpdate().Model((*booksRow)(nil)).Set("retired = ?", true).Where("round = ?", id).Exec(ctx)
	if err != nil {
		return fmt.Errorf("note retired: round %s: %w", id, err)
	}
	return nil
}

// NoteReleased ends the freeze of a round and accepts how its books differ from Redis as it stands in mark; nil: Redis holds
// nothing of it. Mark must be of a moment since which nothing was granted, with nothing in flight. The round freezes again
// when the two come to differ otherwise. game.ErrWrongPhase: the round is a draft, or settled.
func (l *Ledger) NoteReleased(ctx context.Context, id string, mark *game.Watermark) (game.Round, error) {
	noted := step{name: "note released", refused: []game.Phase{game.Draft, game.Settled}}
	return l.step(ctx, id, noted, func(ctx context.Context, tx bun.Tx, round game.Round) error {
		b, err := l.bookingFor(ctx, tx, round)
		if err != nil || !round.Frozen {
			return err // somebody else released it
		}
		if err := b.accept(ctx, mark); err != nil {
			return err
		}
		return updateRound(ctx, tx, round, func(q *bun.UpdateQuery) *bun.UpdateQuery {
			return q.Set("frozen = ?", false).Set("freeze_reason = ''").Set("freeze_version = ?", round.FreezeVersion+1)
		})
	})
}

// accept makes the difference between the books and Redis the known one.
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

// acceptRefund makes a refund that was not paid yet the one that Redis wrote last.
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
		return wantOne(b.tx.NewUpdate().Model(refund).WherePK().Where("applied_at = 0").Exec(ctx))
	}
	_, err = b.tx.NewInsert().Model(refund).Exec(ctx)
	return err
}

// freeze freezes a locked round, and returns it as it is then. One that is frozen keeps its first reason; a draft and a settled
// round stay as they are.
func freeze(ctx context.Context, tx bun.Tx, round game.Round, why game.FreezeReason) (game.Round, error) {
	if round.Frozen || round.Phase == game.Draft || round.Phase == game.Settled {
		return round, nil
	}
	return freezeAs(ctx, tx, round, why)
}

// freezeAs freezes a locked round that is active or closed, or gives a frozen one a graver reason.
func freezeAs(ctx context.Context, tx bun.Tx, round game.Round, why game.FreezeReason) (game.Round, error) {
	frozen := round
	frozen.Frozen, frozen.FreezeReason, frozen.FreezeVersion = true, why, round.FreezeVersion+1
	err := updateRound(ctx, tx, round, func(q *bun.UpdateQuery) *bun.UpdateQuery {
		return q.Set("frozen = ?", true).Set("freeze_reason = ?", why).Set("freeze_version = ?", frozen.FreezeVersion)
	})
	return frozen, err
}

// Escrow is what is held for a round's players right now.
func (l *Ledger) Escrow(ctx context.Context, round game.Round) (game.Cents, error) {
	cents, err := balance(ctx, l.read, purseOf(round).escrow())
	if err != nil {
		return 0, fmt.Errorf("read escrow of round %s: %w", round.ID, err)
	}
	return cents, nil
}

// HostBalance is the balance of a room's host in cents: below 0 is what the host owes for claims and for what is held.
// Rehearsals do not count. A host who never began a round has 0.
func (l *Ledger) HostBalance(ctx context.Context, room string) (game.Cents, error) {
	cents, err := balance(ctx, l.read, purse{room: room}.host())
	if errors.Is(err, game.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the balance of the host of room %s: %w", room, err)
	}
	return cents, nil
}
