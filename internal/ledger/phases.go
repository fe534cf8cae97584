package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// Begin takes a draft to its countdown. In one transaction it makes the round the active one of its room, stores the secret with its
// commitment, and moves the budget from the host's account into the round's escrow.
// A round that is active already is returned unchanged, with the secret of its first Begin. game.ErrRoomBusy: another
// round of the room is active. game.ErrWrongPhase: the round is closed. game.ErrNotFound: there is no such round.
func (l *Ledger) Begin(ctx context.Context, id string, secret game.Secret) (game.Round, error) {
	return l.begin(ctx, id, secret, func(game.Round) error { return nil })
}

// BeginPlanned is Begin for a draft whose planned start has come. game.ErrWrongPhase, besides: the draft is no longer planned for that
// moment, because somebody has changed that meanwhile.
func (l *Ledger) BeginPlanned(ctx context.Context, id string, secret game.Secret, on game.Moment) (game.Round, error) {
	return l.begin(ctx, id, secret, func(draft game.Round) error {
		if draft.StartsOn != on {
			return fmt.Errorf("%w: no longer planned for that moment", game.ErrWrongPhase)
		}
		return nil
	})
}

func (l *Ledger) begin(ctx context.Context, id string, secret game.Secret, check func(draft game.Round) error) (game.Round, error) {
	var room *roomRow
	begin := roundChange{name: "begin", before: func(ctx context.Context, tx bun.Tx) (err error) {
		room, err = lockRoomOf(ctx, tx, id)
		return err
	}}
	return l.changeRound(ctx, id, begin, func(ctx context.Context, tx bun.Tx, round game.Round) error {
		switch {
		case round.Phase.Active():
			return nil
		case round.Phase.Over():
			return game.ErrWrongPhase
		case room.ActiveRound != nil:
			return game.ErrRoomBusy
		}
		if err := check(round); err != nil {
			return err
		}
		now := l.now().UnixMilli()
		if err := takeRoom(ctx, tx, round); err != nil {
			return err
		}
		if err := openBooks(ctx, tx, round, now); err != nil {
			return err
		}
		return updateRound(ctx, tx, round, func(q *bun.UpdateQuery) *bun.UpdateQuery {
			return q.Set("phase = ?", game.Countdown).Set("begun_at = ?", now).
				Set("secret = ?", string(secret)).Set("algorithm = ?", game.Algorithm).
				Set("commitment = ?", game.Commitment(game.Algorithm, round, secret))
		})
	})
}

// NoteOpened stores that the round was opened in Redis, with its start and end. Only the first call counts. game.ErrWrongPhase: the
// round is a draft.
func (l *Ledger) NoteOpened(ctx context.Context, id string, startsAt, endsAt game.Moment) (game.Round, error) {
	noted := roundChange{name: "note opened", refused: []game.Phase{game.Draft}}
	return l.changeRound(ctx, id, noted, func(ctx context.Context, tx bun.Tx, round game.Round) error {
		if round.Phase != game.Countdown || round.StartsAt > 0 {
			return nil
		}
		return updateRound(ctx, tx, round, func(q *bun.UpdateQuery) *bun.UpdateQuery {
			return q.Set("starts_at = ?", startsAt).Set("ends_at = ?", endsAt).Where("starts_at = 0")
		})
	})
}

// NoteRaining takes a round that was opened from countdown to raining; one in a later phase is not changed.
// game.ErrWrongPhase: it was not opened.
func (l *Ledger) NoteRaining(ctx context.Context, id string) (game.Round, error) {
	noted := roundChange{name: "note raining", refused: []game.Phase{game.Draft}}
	return l.changeRound(ctx, id, noted, func(ctx context.Context, tx bun.Tx, round game.Round) error {
		switch {
		case round.Phase != game.Countdown:
			return nil
		case round.StartsAt == 0:
			return fmt.Errorf("%w: not opened", game.ErrWrongPhase)
		}
		return updateRound(ctx, tx, round, func(q *bun.UpdateQuery) *bun.UpdateQuery {
			return q.Set("phase = ?", game.Raining).Where("starts_at > 0")
		})
	})
}

// NoteClosed closes an active round and frees its room, in one transaction. claimed is what it gave away, in packets and
// cents. Only the first call counts: later ones, whatever their reason, return the round unchanged. game.ErrWrongPhase:
// the round is a draft.
func (l *Ledger) NoteClosed(ctx context.Context, id string, reason game.CloseReason, claimed game.Total) (game.Round, error) {
	noted := roundChange{
		name: "note closed", refused: []game.Phase{game.Draft},
		before: func(ctx context.Context, tx bun.Tx) error { _, err := lockRoomOf(ctx, tx, id); return err },
	}
	return l.changeRound(ctx, id, noted, func(ctx context.Context, tx bun.Tx, round game.Round) error {
		if !round.Phase.Active() {
			return nil
		}
		if err := freeRoom(ctx, tx, round); err != nil {
			return err
		}
		return updateRound(ctx, tx, round, func(q *bun.UpdateQuery) *bun.UpdateQuery {
			return q.Set("phase = ?", game.Closed).Set("reason = ?", reason).Set("closed_at = ?", l.now().UnixMilli()).
				Set("claimed_packets = ?", claimed.Packets).Set("claimed_cents = ?", claimed.Cents)
		})
	})
}

// roundChange describes a change of one round. In the refused phases it returns game.ErrWrongPhase.
type roundChange struct {
	name    string
	refused []game.Phase
	// before takes the locks that come before that of the round in the order of locks.
	before func(context.Context, bun.Tx) error
}

// changeRound locks a round, changes it in the same transaction, and returns it as it is afterwards.
func (l *Ledger) changeRound(ctx context.Context, id string, s roundChange, change func(context.Context, bun.Tx, game.Round) error) (game.Round, error) {
	var changed game.Round
	err := l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if s.before != nil {
			if err := s.before(ctx, tx); err != nil {
				return err
			}
		}
		round, err := lockRound(ctx, tx, id)
		if err != nil {
			return err
		}
		if slices.Contains(s.refused, round.Phase) {
			return fmt.Errorf("%w: %s", game.ErrWrongPhase, round.Phase)
		}
		if err := change(ctx, tx, round); err != nil {
			return err
		}
		changed, err = readRound(ctx, tx, id)
		return err
	})
	if err != nil {
		return game.Round{}, fmt.Errorf("%s: round %s: %w", s.name, id, err)
	}
	return changed, nil
}

// takeRoom makes a round the active one of its room, which is locked and has none.
func takeRoom(ctx context.Context, tx bun.Tx, round game.Round) error {
	return requireOneRow(tx.NewUpdate().Model((*roomRow)(nil)).Set("active_round = ?", round.ID).
		Where("code = ?", round.Room).Where("active_round IS NULL").Exec(ctx))
}

// freeRoom takes an active round out of its room, which is locked.
func freeRoom(ctx context.Context, tx bun.Tx, round game.Round) error {
	return requireOneRow(tx.NewUpdate().Model((*roomRow)(nil)).Set("active_round = NULL").
		Where("code = ?", round.Room).Where("active_round = ?", round.ID).Exec(ctx))
}
