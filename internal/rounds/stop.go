package rounds

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"redrain/internal/game"
)

// Stop ends an active round now; before its first drop that cancels it. A closed round is returned as it is.
//
// A round whose keys are lost is frozen by the first Stop, or was before, with game.ErrGone or game.ErrTorn; stopping the
// frozen round is the host's word to give it up: it closes as interrupted. game.ErrWrongPhase: the round is a draft.
// game.ErrNotFound.
func (s *Service) Stop(ctx context.Context, id string) (game.Round, error) {
	round, err := s.end(ctx, id, game.Cancelled, game.Stopped)
	if keysLost(err) && round.Frozen {
		round, err = s.giveUp(ctx, round)
	} else if keysLost(err) {
		round, err = s.tellLost(ctx, round, err)
	}
	if err != nil {
		return game.Round{}, fmt.Errorf("stop: %w", err)
	}
	return round, nil
}

// Cancel ends a round before its first drop. A cancelled round is returned as it is. game.ErrWrongPhase: it rains already,
// is closed otherwise, or is a draft. game.ErrNotFound. Lost keys are told as by Stop.
func (s *Service) Cancel(ctx context.Context, id string) (game.Round, error) {
	round, err := s.end(ctx, id, game.Cancelled)
	if keysLost(err) {
		round, err = s.tellLost(ctx, round, err)
	}
	switch {
	case err != nil:
		return game.Round{}, fmt.Errorf("cancel: %w", err)
	case round.Reason != game.Cancelled:
		return game.Round{}, fmt.Errorf("cancel: round %s: %w: closed by %s", id, game.ErrWrongPhase, round.Reason)
	}
	return round, nil
}

// SoldOut is for whoever learns that the last packet of a round is taken: the round closes if its settings want that. A
// wrong rumour, repeated or late, does nothing. If it fails, Keep closes the round a little later.
func (s *Service) SoldOut(ctx context.Context, id string) error {
	round, err := s.books.Round(ctx, id)
	if err != nil {
		return fmt.Errorf("sold out: %w", err)
	}
	if !round.Phase.Active() || round.Frozen || !round.Settings.CloseWhenSoldOut {
		return nil
	}
	_, err = s.closeFor(ctx, round, game.BySoldOut)
	if err != nil && !errors.Is(err, game.ErrNotYet) {
		return fmt.Errorf("sold out: %w", err)
	}
	return nil
}

// end closes an active round for the first of the reasons that Redis accepts, and leaves a closed one as it is.
func (s *Service) end(ctx context.Context, id string, reasons ...game.CloseReason) (game.Round, error) {
	round, err := s.books.Round(ctx, id)
	switch {
	case err != nil || round.Phase.Over():
		return round, err
	case round.Phase == game.Draft:
		return round, fmt.Errorf("round %s: %w: draft", id, game.ErrWrongPhase)
	}
	return s.endOpen(ctx, round, reasons...)
}

// endOpen is end for a round that SQL has as active.
func (s *Service) endOpen(ctx context.Context, round game.Round, reasons ...game.CloseReason) (game.Round, error) {
	if round.StartsAt == 0 {
		// It may have no keys yet, and a start that hangs may still make them, after we closed the round in SQL. Made now,
		// and closed, they can only be found closed.
		var err error
		if round, err = s.open(ctx, round); err != nil || round.Phase.Over() {
			return round, err
		}
	}
	return s.closeFor(ctx, round, reasons...)
}

// closeFor closes a round in Redis for the first of the reasons that it accepts, then in SQL.
func (s *Service) closeFor(ctx context.Context, round game.Round, reasons ...game.CloseReason) (game.Round, error) {
	var standing game.Standing
	var err error
	for _, reason := range reasons {
		standing, err = s.pool.Close(ctx, round, reason)
		if !errors.Is(err, game.ErrWrongPhase) {
			break
		}
	}
	if err != nil {
		return round, fmt.Errorf("close round %s in redis: %w", round.ID, err)
	}
	return s.noteClosed(ctx, round, standing)
}

// giveUp closes a frozen round whose keys are lost, and releases it: what the ledger holds stays, the rest goes back.
func (s *Service) giveUp(ctx context.Context, round game.Round) (game.Round, error) {
	round, err := s.noteClosedAs(ctx, round, game.Interrupted, game.Total{})
	if err != nil {
		return round, err
	}
	return s.books.NoteReleased(ctx, round.ID, nil)
}

// tellLost deals with lost keys; the error stays where the round could not be closed.
func (s *Service) tellLost(ctx context.Context, round game.Round, cause error) (game.Round, error) {
	round, err := s.lost(ctx, round, game.Total{}, cause)
	if err == nil && !round.Phase.Over() {
		err = cause
	}
	return round, err
}

// interruptAtOnce is how many rounds Interrupt closes beside each other.
const interruptAtOnce = 8

// Interrupt closes every open round in Redis and in SQL: what was granted is settled, the rest goes back. From then on no
// round can be started here. It is for a Redis that is about to end with its process, and may be repeated.
func (s *Service) Interrupt(ctx context.Context) error {
	s.ending.Store(true)
	open, err := s.books.OpenRounds(ctx)
	if err != nil {
		return fmt.Errorf("interrupt: %w", err)
	}
	failed := make([]error, len(open)) // one that fails does not keep the others open
	var closing sync.WaitGroup
	places := make(chan struct{}, interruptAtOnce)
	for i, round := range open {
		places <- struct{}{}
		closing.Go(func() {
			defer func() { <-places }()
			failed[i] = s.interrupt(ctx, round)
		})
	}
	closing.Wait()
	return errors.Join(failed...)
}

func (s *Service) interrupt(ctx context.Context, round game.Round) error {
	known, err := s.endOpen(ctx, round, game.Interrupted)
	if keysLost(err) {
		_, err = s.tellLost(ctx, known, err)
	}
	if err != nil {
		return fmt.Errorf("interrupt: %w", err)
	}
	return nil
}
