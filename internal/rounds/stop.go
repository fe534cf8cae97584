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
// frozen round means that the host gives it up: it closes as interrupted. game.ErrWrongPhase: the round is a draft.
// game.ErrNotFound.
func (s *Service) Stop(ctx context.Context, id string) (game.Round, error) {
	round, err := s.end(ctx, id, game.Cancelled, game.Stopped)
	if keysLost(err) && round.Frozen {
		round, err = s.giveUp(ctx, round)
	} else if keysLost(err) {
		round, err = s.reportLostKeys(ctx, round, err)
	}
	if err != nil {
		return game.Round{}, fmt.Errorf("stop: %w", err)
	}
	return round, nil
}

// Cancel ends a round before its first drop. A cancelled round is returned as it is. game.ErrWrongPhase: it rains already,
// was closed for another reason, or is a draft. game.ErrNotFound. Lost keys are handled as by Stop.
func (s *Service) Cancel(ctx context.Context, id string) (game.Round, error) {
	round, err := s.end(ctx, id, game.Cancelled)
	if keysLost(err) {
		round, err = s.reportLostKeys(ctx, round, err)
	}
	switch {
	case err != nil:
		return game.Round{}, fmt.Errorf("cancel: %w", err)
	case round.Reason != game.Cancelled:
		return game.Round{}, fmt.Errorf("cancel: round %s: %w: closed by %s", id, game.ErrWrongPhase, round.Reason)
	}
	return round, nil
}

// SoldOut is called when the last packet of a round seems to be taken: it closes the round if its settings say so. Called wrongly, late
// or repeatedly it does nothing. If it fails, Keep closes the round a little later.
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

// end closes an active round for the first of the reasons that Redis accepts, and returns a closed one as it is.
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

// endOpen is end for a round that is active in SQL.
func (s *Service) endOpen(ctx context.Context, round game.Round, reasons ...game.CloseReason) (game.Round, error) {
	if round.StartsAt == 0 {
		// The round may have no keys yet, and a start that hangs could still make them after the round was closed in SQL. So
		// make the keys now and close them: a late start then finds a closed round.
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

// giveUp closes a frozen round whose keys are lost, and releases it: claims in the ledger stay, the rest is refunded.
func (s *Service) giveUp(ctx context.Context, round game.Round) (game.Round, error) {
	round, err := s.noteClosedAs(ctx, round, game.Interrupted, game.Total{})
	if err != nil {
		return round, err
	}
	return s.books.NoteReleased(ctx, round.ID, nil)
}

// reportLostKeys handles lost keys, and returns cause unless the round is closed now.
func (s *Service) reportLostKeys(ctx context.Context, round game.Round, cause error) (game.Round, error) {
	round, err := s.handleLostKeys(ctx, round, game.Total{}, cause)
	if err == nil && !round.Phase.Over() {
		err = cause
	}
	return round, err
}

// interruptConcurrency is how many rounds Interrupt closes at a time.
const interruptConcurrency = 8

// Interrupt closes every open round in Redis and in SQL: granted claims are settled, the rest is refunded. From then
// on no round can be started here. It is for an embedded Redis that is about to end with its process, and may be repeated.
func (s *Service) Interrupt(ctx context.Context) error {
	s.stopping.Store(true)
	open, err := s.books.OpenRounds(ctx)
	if err != nil {
		return fmt.Errorf("interrupt: %w", err)
	}
	failed := make([]error, len(open)) // a round that fails does not keep the others open
	var closing sync.WaitGroup
	slots := make(chan struct{}, interruptConcurrency)
	for i, round := range open {
		slots <- struct{}{}
		closing.Go(func() {
			defer func() { <-slots }()
			failed[i] = s.interrupt(ctx, round)
		})
	}
	closing.Wait()
	return errors.Join(failed...)
}

func (s *Service) interrupt(ctx context.Context, round game.Round) error {
	known, err := s.endOpen(ctx, round, game.Interrupted)
	if keysLost(err) {
		_, err = s.reportLostKeys(ctx, known, err)
	}
	if err != nil {
		return fmt.Errorf("interrupt: %w", err)
	}
	return nil
}
