package ledger

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// NoteLost notes that claims of a round with numbers up to this one had been granted, of which Redis does not know any more, and
// freezes the round. Repeated, also by others at the same time, first is true for one alone: the one that found it not frozen, or
// frozen only because keys are lost, and knew of a greater number than the ledger.
// Where a host has excused the loss of this number already, or the round is settled, nothing changes. game.ErrNotFound: the
// round was never begun.
func (l *Ledger) NoteLost(ctx context.Context, id string, number int) (round game.Round, first bool, err error) {
	err = l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		first = false
		b, err := l.newBooking(ctx, tx, id)
		if err != nil {
			return err
		}
		round = b.round
		if number <= b.books.LossAcceptedUpTo || round.Phase == game.Settled {
			return nil
		}
		news := number > b.books.Highest
		if news { // then every settler knows of it, and a release excuses it
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
