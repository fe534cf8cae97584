package rounds

import (
	"context"
	"errors"
	"sync"

	"redrain/internal/game"
)

// maxPlanDelay is how late, in ms, a planned round may still be started, if another round of the room ran on or no instance was
// up. After that nobody expects it any more, and its plan is dropped.
const maxPlanDelay = game.Moment(10 * 60 * 1000)

// startDue starts the rounds whose planned time has come, each in a goroutine of its own. All instances try, and one succeeds.
func (s *Service) startDue(ctx context.Context, watched *sync.Map, starts *sync.WaitGroup) {
	looking, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	due, err := s.books.DueRounds(looking, s.pool.Now())
	if err != nil && ctx.Err() == nil {
		s.log.Warn("cannot read which rounds are due", "error", err)
	}
	for _, round := range due {
		if _, already := watched.LoadOrStore("start "+round.ID, true); already {
			continue
		}
		starts.Go(func() {
			defer watched.Delete("start " + round.ID)
			s.startPlanned(ctx, round)
		})
	}
}

// startPlanned starts one due round. While its room is busy it stays due; after maxPlanDelay its plan is dropped, and it
// stays a draft.
func (s *Service) startPlanned(ctx context.Context, round game.Round) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	if s.pool.Now()-round.StartsOn > maxPlanDelay {
		s.log.Warn("a planned start was missed", "round", round.ID, "room", round.Room, "starts_on", round.StartsOn)
		if err := s.books.DropPlan(ctx, round.ID, round.StartsOn); err != nil {
			s.log.Warn("cannot drop a missed plan", "round", round.ID, "error", err)
		}
		return
	}
	begun, err := s.books.BeginPlanned(ctx, round.ID, game.NewSecret(), round.StartsOn)
	_, err = s.openBegun(ctx, begun, err)
	switch {
	case err == nil:
		s.log.Info("round was started by its plan", "round", round.ID, "room", round.Room)
	case errors.Is(err, game.ErrRoomBusy), errors.Is(err, game.ErrWrongPhase):
		s.log.Debug("a planned round cannot start yet", "round", round.ID, "reason", err)
	default:
		s.log.Warn("cannot start a planned round", "round", round.ID, "error", err)
	}
}
