package rounds

import (
	"context"
	"errors"
	"sync"

	"redrain/internal/game"
)

// maxPlanDelay is how late, in ms, a planned round may still be started, if another round of the room ran on or no instance was
// up. After that nobody expects it any more, and its host is told instead.
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

// startPlanned starts one due round. While its room is busy it stays due; after maxPlanDelay it has missed its start, and stays a draft.
func (s *Service) startPlanned(ctx context.Context, round game.Round) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	if s.pool.Now()-round.StartsOn > maxPlanDelay {
		s.noteMissed(ctx, round)
		return
	}
	begun, err := s.books.BeginPlanned(ctx, round.ID, game.NewSecret(), round.StartsOn)
	_, err = s.openBegun(ctx, begun, err)
	switch {
	case err == nil:
		s.keptWaiting.Delete(round.ID)
		s.log.Info("round was started by its plan", "round", round.ID, "room", round.Room)
	case errors.Is(err, game.ErrRoomBusy):
		s.keptWaiting.Store(round.ID, round.StartsOn)
		s.log.Debug("a planned round waits for its room", "round", round.ID)
	case errors.Is(err, game.ErrWrongPhase):
		s.log.Debug("a planned round cannot start yet", "round", round.ID, "reason", err)
	default:
		s.log.Warn("cannot start a planned round", "round", round.ID, "error", err)
	}
}

// noteMissed stores that a round missed its planned start, and tells the pages of its hosts to read it. Of all instances that try, one
// succeeds.
func (s *Service) noteMissed(ctx context.Context, round game.Round) {
	why := game.MissedNotRunning
	if on, waited := s.keptWaiting.LoadAndDelete(round.ID); waited && on == round.StartsOn {
		why = game.MissedRoomBusy
	}
	noted, err := s.books.NoteMissed(ctx, round.ID, round.StartsOn, why)
	if err != nil {
		s.log.Warn("cannot note a missed start", "round", round.ID, "error", err)
		if why == game.MissedRoomBusy {
			s.keptWaiting.Store(round.ID, round.StartsOn) // for the next try
		}
		return
	}
	if !noted {
		return
	}
	s.log.Warn("a planned start was missed", "round", round.ID, "room", round.Room, "starts_on", round.StartsOn, "reason", why)
	if err := s.pool.NotifyHosts(ctx, round.Room, game.NoticeRoundsChanged); err != nil {
		s.log.Warn("cannot tell the hosts of a missed start; pages show it when they read the rounds", "round", round.ID, "error", err)
	}
}
