package rounds

import (
	"context"
	"errors"
	"sync"

	"redrain/internal/game"
)

// plannedWithin bounds, in ms, how late a planned start may come: while another round of the room still runs, or no instance
// lived. Later it would surprise everybody.
const plannedWithin = game.Moment(10 * 60 * 1000)

// startDue starts the rounds whose planned moment has come, each in a goroutine of its own. Of several instances each tries,
// and one succeeds.
func (s *Service) startDue(ctx context.Context, watched *sync.Map, starts *sync.WaitGroup) {
	looking, cancel := context.WithTimeout(ctx, lookFor)
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

// startPlanned starts one due round. While its room is busy it stays due; when its moment is long past its plan is dropped,
// and the host decides.
func (s *Service) startPlanned(ctx context.Context, round game.Round) {
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	if s.pool.Now()-round.StartsOn > plannedWithin {
		s.log.Warn("a planned start was missed", "round", round.ID, "room", round.Room, "starts_on", round.StartsOn)
		if err := s.books.DropPlan(ctx, round.ID, round.StartsOn); err != nil {
			s.log.Warn("cannot drop a missed plan", "round", round.ID, "error", err)
		}
		return
	}
	begun, err := s.books.BeginPlanned(ctx, round.ID, game.NewSecret(), round.StartsOn)
	_, err = s.goOn(ctx, begun, err)
	switch {
	case err == nil:
		s.log.Info("round was started by its plan", "round", round.ID, "room", round.Room)
	case errors.Is(err, game.ErrRoomBusy), errors.Is(err, game.ErrWrongPhase):
		s.log.Debug("a planned round cannot start yet", "round", round.ID, "reason", err)
	default:
		s.log.Warn("cannot start a planned round", "round", round.ID, "error", err)
	}
}
