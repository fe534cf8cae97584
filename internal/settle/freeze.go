package settle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redrain/internal/backoff"
	"redrain/internal/game"
)

// Freeze freezes a round for its host: nothing more is granted, refunded or paid out; claims granted before are still booked. A round
// that is frozen already is returned as it is. game.ErrWrongPhase: it is a draft, or settled. game.ErrNotFound.
func (s *Settler) Freeze(ctx context.Context, id string) (game.Round, error) {
	round, err := s.books.NoteFrozen(ctx, id, game.FrozenByHost)
	if err == nil {
		err = s.syncFrozenFlag(ctx, round)
	}
	if err != nil {
		return game.Round{}, fmt.Errorf("freeze: %w", err)
	}
	s.log.Warn("round is frozen by the host", "round", round.ID, "room", round.Room)
	return round, nil
}

// freezeAndAlert freezes a round in which something was found wrong as it was read, and alerts operators (by log and counter) and hosts.
// One that was frozen or released since is left as it is: the next look finds what is still wrong. The ledger is first: if
// this process dies after that, other settlers bring Redis to the same state.
func (s *Settler) freezeAndAlert(ctx context.Context, read game.Round, reason game.FreezeReason, why string) error {
	round, first, err := s.books.NoteFault(ctx, read, reason)
	if err != nil || !first {
		return err
	}
	return s.alert(ctx, round, why)
}

// alert tells operators and hosts that a round is frozen, and Redis.
func (s *Settler) alert(ctx context.Context, round game.Round, why string) error {
	s.counts.alarms.Add(1)
	s.log.Error("round is frozen", "round", round.ID, "room", round.Room, "reason", round.FreezeReason, "why", why)
	return errors.Join(s.syncFrozenFlag(ctx, round), s.outbox.PublishNotice(ctx, round.Room, roundFrozen))
}

// freezeForLoss freezes a round because Redis has lost claims, with numbers up to number, that players were told of. Of all processes
// that notice it, the first alerts operators and hosts. If the host has excused the loss, or the round is settled, nothing happens.
func (s *Settler) freezeForLoss(ctx context.Context, id string, number int, why string) error {
	round, first, err := s.books.NoteLost(ctx, id, number)
	if err != nil || !round.Frozen {
		return err
	}
	err = s.syncFrozenFlag(ctx, round) // the process that froze it first may have died before this
	if !first {
		return err
	}
	s.counts.alarms.Add(1)
	s.counts.lost.Add(1)
	s.log.Error("round is frozen: redis lost claims that players were told of", "round", round.ID, "room", round.Room, "why", why)
	return errors.Join(err, s.outbox.PublishNotice(ctx, round.Room, roundFrozen), s.outbox.NotifyHosts(ctx, round.Room, game.NoticeClaimsLost))
}

// roundFrozen is for everybody. What differs is for the host's page, not for players.
var roundFrozen = game.Notice{Code: game.NoticeRoundFrozen}

// syncFrozenFlag sets the frozen flag in Redis to what the ledger says. A round without keys needs none: it grants nothing.
func (s *Settler) syncFrozenFlag(ctx context.Context, round game.Round) error {
	err := s.outbox.SetFrozen(ctx, round)
	if errors.Is(err, game.ErrGone) {
		return nil
	}
	return err
}

// releaseTimeout bounds the wait until all claims of a frozen round are booked. It grants no new ones, so that is soon.
const releaseTimeout = 5 * time.Second

// Release ends the freeze of a round, and accepts its books as they are: if they differ from Redis, that difference is excused, and
// only another one freezes the round again. A closed round without keys is then settled from the ledger. A round that is
// not frozen is returned as it is. game.ErrBusy: not all claims are booked yet. game.ErrWrongPhase: it is a draft,
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
	mark, err := s.waitForOutbox(ctx, account.Round)
	if err != nil {
		return game.Round{}, err
	}
	round, err := s.books.NoteReleased(ctx, id, mark)
	if err != nil {
		return game.Round{}, err
	}
	s.log.Warn("round is released by the host", "round", round.ID, "room", round.Room)
	return round, s.syncFrozenFlag(ctx, round)
}

// waitForOutbox waits until every outbox entry of a frozen round is booked, and returns the watermark then; nil: Redis has no keys of
// it, or contradictory ones that cannot be repaired.
func (s *Settler) waitForOutbox(ctx context.Context, round game.Round) (*game.Watermark, error) {
	for deadline := time.Now().Add(releaseTimeout); ; {
		mark, done, err := s.checkOutbox(ctx, round)
		switch {
		case done:
			return mark, nil
		case err != nil:
			return nil, err
		case time.Now().After(deadline):
			return nil, fmt.Errorf("%w: claims are on their way to the ledger", game.ErrBusy)
		}
		if !backoff.Sleep(ctx, emptyPause, nil) {
			return nil, ctx.Err() //nolint:wrapcheck // says itself what it is
		}
	}
}

// checkOutbox is one try of waitForOutbox. done: mark is its result.
func (s *Settler) checkOutbox(ctx context.Context, round game.Round) (mark *game.Watermark, done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
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

// ReplayFailed tries again to book what could not be booked of a round: its dead letters, then its quarantined claims. It returns how
// many of each were booked.
func (s *Settler) ReplayFailed(ctx context.Context, id string) (letters, claims int, err error) {
	dead, err := s.books.DeadLetters(ctx, id)
	if err != nil {
		return 0, 0, fmt.Errorf("replay: %w", err)
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
			return letters, 0, fmt.Errorf("replay: %w", err)
		}
		letters++
	}
	claims, err = s.books.ReplayQuarantine(ctx, id)
	if err != nil {
		return letters, claims, fmt.Errorf("replay: %w", err)
	}
	return letters, claims, nil
}
