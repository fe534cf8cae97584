package rounds

import (
	"context"
	"fmt"

	"redrain/internal/game"
)

// Start begins a draft's countdown: first in SQL, then in Redis, whose clock decides when the round starts, and then it notes that
// time in SQL. An active round is returned as it is. If a step fails, a repeated Start, or Keep of any instance, continues from there
// with the same secret. game.ErrRoomBusy: another round of the room is active.
// game.ErrWrongPhase: the round is closed. game.ErrNotFound. game.ErrBusy: this instance is stopping, see Interrupt.
func (s *Service) Start(ctx context.Context, id string) (game.Round, error) {
	if s.stopping.Load() {
		return game.Round{}, fmt.Errorf("start: %w: the instance stops", game.ErrBusy)
	}
	round, err := s.books.Begin(ctx, id, game.NewSecret())
	return s.openBegun(ctx, round, err)
}

// openBegun opens a round that was begun in SQL. round and err are what Begin returned.
func (s *Service) openBegun(ctx context.Context, round game.Round, err error) (game.Round, error) {
	if err != nil {
		return game.Round{}, fmt.Errorf("start: %w", err)
	}
	defer s.wakeKeep()
	if round.StartsAt > 0 {
		return round, nil
	}
	if round, err = s.open(ctx, round); err != nil {
		return game.Round{}, fmt.Errorf("start: %w", err)
	}
	return round, nil
}

// open makes the keys of a begun round in Redis, unless an earlier try or another instance has made them, and notes in SQL when the
// round starts and ends.
func (s *Service) open(ctx context.Context, round game.Round) (game.Round, error) {
	var amounts []game.Cents
	if round.Settings.Split == game.SplitDealt {
		amounts = game.DealtAmounts(round.Settings, round.Secret)
	}
	standing, err := s.pool.Open(ctx, round, amounts)
	if err != nil {
		return round, fmt.Errorf("open round %s in redis: %w", round.ID, err)
	}
	opened, err := s.books.NoteOpened(ctx, round.ID, standing.StartsAt, standing.EndsAt)
	if err != nil {
		return round, err
	}
	s.log.Info("round is open", "round", opened.ID, "room", opened.Room, "starts_at", opened.StartsAt, "ends_at", opened.EndsAt)
	return opened, nil
}

func (s *Service) wakeKeep() {
	select {
	case s.wake <- struct{}{}:
	default: // a wake-up is pending already
	}
}
