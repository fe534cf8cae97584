package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// Begin takes a draft into its countdown: in one transaction it takes the room, stores the secret with its commitment, and
// moves the budget from the host's account into the round's escrow.
// A round that is active already is returned as it is, with the secret of its first Begin. game.ErrRoomBusy: another
// round of the room is active. game.ErrWrongPhase: the round is closed. game.ErrNotFound: there is no such round.
func (l *Ledger) Begin(ctx context.Context, id string, secret game.Secret) (game.Round, error) {
	return l.step(ctx, id, step{name: "begin"}, func(ctx context.Context, tx bun.Tx) error {
		// Taking comes first: it makes racing starts of a room wait for each other, and all that is read after it is
		// what the one before has left, whatever the isolation.
		took, err := takeRoom(ctx, tx, id)
		if err != nil {
			return err
		}
		round, err := readRound(ctx, tx, id)
		switch {
		case err != nil || round.Phase.Active():
			return err
		case round.Phase.Over():
			return game.ErrWrongPhase
		case !took:
			return game.ErrRoomBusy
		}
		now := l.now().UnixMilli()
		if err := openBooks(ctx, tx, round, now); err != nil {
			return err
		}
		return update(ctx, tx, id, game.Countdown.Before(), func(q *bun.UpdateQuery) *bun.UpdateQuery {
			return q.Set("phase = ?", game.Countdown).Set("begun_at = ?", now).
				Set("secret = ?", string(secret)).Set("algorithm = ?", game.Algorithm).
				Set("commitment = ?", game.Commitment(game.Algorithm, round, secret))
		})
	})
}

// NoteOpened notes that the round is open in Redis, and for when. Only the first note counts. game.ErrWrongPhase: the
// round is a draft.
func (l *Ledger) NoteOpened(ctx context.Context, id string, startsAt, endsAt game.Moment) (game.Round, error) {
	noted := step{name: "note opened", refused: []game.Phase{game.Draft}}
	return l.step(ctx, id, noted, func(ctx context.Context, tx bun.Tx) error {
		return update(ctx, tx, id, game.Raining.Before(), func(q *bun.UpdateQuery) *bun.UpdateQuery {
			return q.Set("starts_at = ?", startsAt).Set("ends_at = ?", endsAt).Where("starts_at = 0")
		})
	})
}

// NoteRaining takes a round that was noted as opened from countdown to raining; one that is further stays.
// game.ErrWrongPhase: it was not opened.
func (l *Ledger) NoteRaining(ctx context.Context, id string) (game.Round, error) {
	noted := step{name: "note raining", refused: []game.Phase{game.Draft, game.Countdown}}
	return l.step(ctx, id, noted, func(ctx context.Context, tx bun.Tx) error {
		return update(ctx, tx, id, game.Raining.Before(), func(q *bun.UpdateQuery) *bun.UpdateQuery {
			return q.Set("phase = ?", game.Raining).Where("starts_at > 0")
		})
	})
}

// NoteClosed closes an active round and frees its room, in one transaction. claimed is what it gave away, in packets and
// cents. The first close wins: repeated, whatever its reason, the round is returned as that left it. game.ErrWrongPhase:
// the round is a draft.
func (l *Ledger) NoteClosed(ctx context.Context, id string, reason game.CloseReason, claimed game.Left) (game.Round, error) {
	noted := step{name: "note closed", refused: []game.Phase{game.Draft}}
	return l.step(ctx, id, noted, func(ctx context.Context, tx bun.Tx) error {
		if err := freeRoom(ctx, tx, id); err != nil {
			return err
		}
		return update(ctx, tx, id, game.Closed.Before(), func(q *bun.UpdateQuery) *bun.UpdateQuery {
			return q.Set("phase = ?", game.Closed).Set("reason = ?", reason).Set("closed_at = ?", l.now().UnixMilli()).
				Set("claimed_packets = ?", claimed.Packets).Set("claimed_cents = ?", claimed.Cents)
		})
	})
}

// NoteFrozen sets the flag beside the phase of an active or closed round; it keeps its room. game.ErrWrongPhase: the
// round is a draft, or settled.
func (l *Ledger) NoteFrozen(ctx context.Context, id string) (game.Round, error) {
	noted := step{name: "note frozen", refused: []game.Phase{game.Draft, game.Settled}}
	return l.step(ctx, id, noted, func(ctx context.Context, tx bun.Tx) error {
		return setFrozen(ctx, tx, id, true)
	})
}

// step is one change of a round. It is out of place if it leaves the round in one of the refused phases.
type step struct {
	name    string
	refused []game.Phase
}

// step runs a change in a transaction and returns the round as it is at its end.
func (l *Ledger) step(ctx context.Context, id string, s step, change func(context.Context, bun.Tx) error) (game.Round, error) {
	var round game.Round
	err := l.inTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		if err := change(ctx, tx); err != nil {
			return err
		}
		if round, err = readRound(ctx, tx, id); err != nil {
			return err
		}
		if slices.Contains(s.refused, round.Phase) {
			return fmt.Errorf("%w: %s", game.ErrWrongPhase, round.Phase)
		}
		return nil
	})
	if err != nil {
		return game.Round{}, fmt.Errorf("%s: round %s: %w", s.name, id, err)
	}
	return round, nil
}

// update changes a round if it is in one of the phases from, else it does nothing.
func update(ctx context.Context, tx bun.Tx, id string, from []game.Phase, set func(*bun.UpdateQuery) *bun.UpdateQuery) error {
	query := tx.NewUpdate().Model((*roundRow)(nil)).Where("id = ?", id).Where("phase IN (?)", bun.List(from))
	_, err := set(query).Exec(ctx)
	return err
}

// takeRoom makes the round the active one of its room and reports whether it did: not if the room has one already.
func takeRoom(ctx context.Context, tx bun.Tx, id string) (bool, error) {
	room := tx.NewSelect().Model((*roundRow)(nil)).Column("room").Where("id = ?", id)
	result, err := tx.NewUpdate().Model((*roomRow)(nil)).Set("active_round = ?", id).
		Where("code = (?)", room).Where("active_round IS NULL").Exec(ctx)
	if err != nil {
		return false, err
	}
	taken, err := result.RowsAffected()
	return taken == 1, err
}

func freeRoom(ctx context.Context, tx bun.Tx, id string) error {
	_, err := tx.NewUpdate().Model((*roomRow)(nil)).Set("active_round = NULL").Where("active_round = ?", id).Exec(ctx)
	return err
}
