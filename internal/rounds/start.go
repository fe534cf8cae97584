package rounds

import (
	"context"
	"fmt"

	"redrain/internal/game"
)

// Start takes a draft into its countdown: first in SQL, then in Redis, which says when it starts, then SQL notes when. An
// active round is returned as it is. If Redis or SQL fail on the way the error says so, and a repeated Start, or Keep of
// any instance, goes on where it stopped, with the same secret. game.ErrRoomBusy: another round of the room is active.
// game.ErrWrongPhase: the round is closed. game.ErrNotFound. game.ErrBusy: this instance stops, see Interrupt.
func (s *Service) Start(ctx context.Context, id string) (game.Round, error) {
	if s.ending.Load() {
		return game.Round{}, fmt.Errorf("start: %w: the instance stops", game.ErrBusy)
	}
	round, err := s.books.Begin(ctx, id, game.NewSecret())
	return s.goOn(ctx, round, err)
}

// goOn opens a round that SQL has begun.
func (s *Service) goOn(ctx context.Context, round game.Round, err error) (game.Round, error) {
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

// open makes the keys of a begun round, or finds them made, and notes for when.
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
	case s.nudge <- struct{}{}:
	default: // it will look anyway
	}
}
