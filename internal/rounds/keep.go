package rounds

import (
	"context"
	"slices"
	"sync"
	"time"

	"redrain/internal/backoff"
	"redrain/internal/game"
)

const (
	// pollInterval is how often Keep lists open rounds, and reads each of them, while nothing is due.
	pollInterval = time.Second
	// stepTimeout bounds one step of a round, or one listing of rounds.
	stepTimeout = 5 * time.Second
	// maxRetryDelay is the longest pause after a failure.
	maxRetryDelay = 2 * time.Second
)

// Keep starts rounds at their planned times, and takes every open round of all rooms through its phases: it finishes interrupted
// starts, notes in SQL when a round begins to rain, and closes it when its time is over or it is sold out. Each round has a goroutine
// of its own, so that a round that fails or hangs does not delay others. Failures are retried after delays of up to 2 s. It returns
// when ctx is done and all its goroutines have ended. Every instance runs Keep; all of them may do the same at once.
func (s *Service) Keep(ctx context.Context) {
	var watched sync.Map // ids of rounds that have a goroutine
	var watches sync.WaitGroup
	defer watches.Wait()
	failures := backoff.Exponential{Max: maxRetryDelay}
	for {
		wait := pollInterval
		open, err := s.listOpen(ctx)
		if err != nil && ctx.Err() == nil {
			wait = failures.Next()
			s.log.Warn("cannot read which rounds are open", "error", err, "again_in", wait)
		} else {
			failures.Reset()
		}
		s.startDue(ctx, &watched, &watches)
		for _, round := range open {
			if _, already := watched.LoadOrStore(round.ID, true); already {
				continue
			}
			watches.Go(func() {
				defer watched.Delete(round.ID)
				s.watch(ctx, round)
			})
		}
		if !backoff.Sleep(ctx, wait, s.wake) {
			return
		}
	}
}

// listOpen returns the rounds that are to be watched.
func (s *Service) listOpen(ctx context.Context) ([]game.Round, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	open, err := s.books.OpenRounds(ctx)
	return slices.DeleteFunc(open, func(round game.Round) bool { return round.Frozen }), err
}
