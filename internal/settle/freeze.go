package settle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redrain/internal/game"
	"redrain/internal/patience"
	"redrain/internal/wire"
)

// Freeze stops a round: nothing is granted, refunded or paid out any more; what was granted still settles. A frozen round is
// returned as it is. game.ErrWrongPhase: it is a draft, or settled. game.ErrNotFound.
func (s *Settler) Freeze(ctx context.Context, id string) (game.Round, error) {
	round, err := s.books.NoteFrozen(ctx, id, game.FrozenByHost)
	if err == nil {
		err = s.tellFrozen(ctx, round)
	}
	if err != nil {
		return game.Round{}, fmt.Errorf("freeze: %w", err)
	}
	s.log.Warn("round is frozen by the host", "round", round.ID, "room", round.Room)
	return round, nil
}

// freeze is an alarm: it stops the round, and tells operators and hosts. SQL says first that it is frozen: a settler that
// dies in between leaves the rest to the others.
func (s *Settler) freeze(ctx context.Context, round game.Round, reason game.FreezeReason, why string) error {
	frozen, err := s.books.NoteFrozen(ctx, round.ID, reason)
	if err != nil {
		return err
	}
	s.counts.alarms.Add(1)
	s.log.Error("round is frozen", "round", round.ID, "room", round.Room, "reason", frozen.FreezeReason, "why", why)
	notice := wire.Encode(wire.Notice{Code: "round_frozen"}) // what differs is for the host's page, not for players
	return errors.Join(s.tellFrozen(ctx, frozen), s.outbox.PublishNotice(ctx, round.Room, notice))
}

// lost is an alarm of its own: Redis has forgotten claims up to a number that had been granted, and told of. Of all who notice,
// one tells operators and hosts. Where a host has excused it, or the round is settled, nothing happens.
func (s *Settler) lost(ctx context.Context, id string, number int, why string) error {
	round, first, err := s.books.NoteLost(ctx, id, number)
	if err != nil || !round.Frozen {
		return err
	}
	err = s.tellFrozen(ctx, round) // whoever was first may have died before
	if !first {
		return err
	}
	s.counts.alarms.Add(1)
	s.counts.lost.Add(1)
	s.log.Error("round is frozen: redis lost claims that players were told of", "round", round.ID, "room", round.Room, "why", why)
	notice := wire.Encode(wire.Notice{Code: "round_frozen"})
	return errors.Join(err, s.outbox.PublishNotice(ctx, round.Room, notice), s.outbox.TellHosts(ctx, round.Room, claimsLost))
}

// claimsLost is the code of the notice that only hosts hear.
const claimsLost = "claims_lost"

// tellFrozen brings Redis to what SQL says. A round without keys grants nothing anyway.
func (s *Settler) tellFrozen(ctx context.Context, round game.Round) error {
	err := s.outbox.SetFrozen(ctx, round)
	if errors.Is(err, game.ErrGone) {
		return nil
	}
	return err
}

// releaseWithin bounds the wait for what is in flight: a frozen round grants nothing, so that is soon in the ledger.
const releaseWithin = 5 * time.Second

// Release lets a frozen round go on, and accepts its books as they are: should they differ from Redis, that much is known
// from then on, and only another difference freezes it again. Without keys, what the ledger holds is settled. A round that is
// not frozen is returned as it is. game.ErrBusy: claims are on their way to the ledger. game.ErrWrongPhase: it is a draft,
// or settled. game.ErrNotFound.
func (s *Settler) Release(ctx context.Context, id string) (game.Round, error) {
	round, err := s.release(ctx, id)
	if err != nil {
		return game.Round{}, fmt.Errorf("release: %w", err)
	}
	return round, nil
}

func (s *Settler) release(ctx context.Context, id string) (game.Round, error) {
	account, err := s.books.Account(ctx, id)
	if err != nil || (!account.Frozen && account.Phase != game.Settled) {
		return account.Round, err
	}
	mark, err := s.quiet(ctx, account.Round)
	if err != nil {
		return game.Round{}, err
	}
	round, err := s.books.NoteReleased(ctx, id, mark)
	if err != nil {
		return game.Round{}, err
	}
	if mark == nil && round.Phase == game.Closed {
		err = s.books.Interrupt(ctx, id)
	}
	s.log.Warn("round is released by the host", "round", round.ID, "room", round.Room)
	return round, errors.Join(err, s.tellFrozen(ctx, round))
}

// quiet waits until nothing of a frozen round is in flight, and returns where Redis stands then; nil: it has no keys, or what it
// has does not fit together and cannot be repaired.
func (s *Settler) quiet(ctx context.Context, round game.Round) (*game.Watermark, error) {
	for deadline := time.Now().Add(releaseWithin); ; {
		mark, done, err := s.isQuiet(ctx, round)
		switch {
		case done:
			return mark, nil
		case err != nil:
			return nil, err
		case time.Now().After(deadline):
			return nil, fmt.Errorf("%w: claims are on their way to the ledger", game.ErrBusy)
		}
		if !patience.Pause(ctx, openPause, nil) {
			return nil, ctx.Err() //nolint:wrapcheck // says itself what it is
		}
	}
}

// isQuiet looks once. done: mark is where Redis stands, nil where it has nothing to go by.
func (s *Settler) isQuiet(ctx context.Context, round game.Round) (mark *game.Watermark, done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, stepFor)
	defer cancel()
	now, err := s.outbox.Watermark(ctx, round.ID)
	if errors.Is(err, game.ErrTorn) {
		_, err = s.outbox.Repair(ctx, round)
		return nil, errors.Is(err, game.ErrTorn) || errors.Is(err, game.ErrGone), err
	}
	switch {
	case errors.Is(err, game.ErrGone):
		return nil, true, nil
	case err != nil:
		return nil, false, err
	case now.FreezeVersion > round.FreezeVersion:
		return nil, false, fmt.Errorf("%w: somebody else froze or released it just now", game.ErrBusy)
	case !now.Frozen:
		return nil, false, s.outbox.SetFrozen(ctx, round)
	}
	return &now, now.Drained(), nil
}

// DriveAgain tries everything of a round again that could not be booked: dead letters, then claims that were put aside. It
// returns how many of both were booked.
func (s *Settler) DriveAgain(ctx context.Context, id string) (letters, claims int, err error) {
	dead, err := s.books.DeadLetters(ctx, id)
	if err != nil {
		return 0, 0, fmt.Errorf("drive again: %w", err)
	}
	for _, letter := range dead {
		entry := s.outbox.ParseRaw(id, letter.Entry, letter.Raw)
		if letter.Replayed || entry.Fault != "" {
			continue
		}
		_, err := s.books.ReplayDeadLetter(ctx, id, entry)
		if errors.Is(err, game.ErrRefused) {
			continue
		}
		if err != nil {
			return letters, 0, fmt.Errorf("drive again: %w", err)
		}
		letters++
	}
	claims, err = s.books.ReplayQuarantine(ctx, id)
	if err != nil {
		return letters, claims, fmt.Errorf("drive again: %w", err)
	}
	return letters, claims, nil
}
