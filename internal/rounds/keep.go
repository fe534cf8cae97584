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
	// lookEvery is how long Keep leaves Books and Pool alone while nothing is due; who missed a hint hears within it.
	lookEvery = time.Second
	// lookFor bounds one look at a round, or at the list of rounds.
	lookFor = 5 * time.Second
	// worstDelay is how long what failed is left alone at most.
	worstDelay = 2 * time.Second
)

// Keep starts rounds at their planned moments, and sees to it that every open round of every room goes its way: it finishes openings that broke off, notes when it
// rains, and closes rounds when they end or are sold out. Each round has a goroutine of its own, so that none waits for
// another's trouble. What fails is tried again, after delays that grow to 2 s. It returns when ctx is done and all its
// goroutines have ended. Every instance runs it; doing the same on many at once is fine.
func (s *Service) Keep(ctx context.Context) {
	var watched sync.Map // ids of rounds that have a goroutine
	var watches sync.WaitGroup
	defer watches.Wait()
	failures := backoff.Exponential{Max: worstDelay}
	for {
		wait := lookEvery
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
		if !backoff.Sleep(ctx, wait, s.nudge) {
			return
		}
	}
}

// listOpen returns the rounds that are to be watched.
func (s *Service) listOpen(ctx context.Context) ([]game.Round, error) {
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	open, err := s.books.OpenRounds(ctx)
	return slices.DeleteFunc(open, func(round game.Round) bool { return round.Frozen }), err
}
