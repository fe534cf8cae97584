package rounds

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"redrain/internal/game"
	"redrain/internal/patience"
)

// watch is one instance's eye on one open round. It is used by one goroutine.
type watch struct {
	*Service
	round game.Round // as SQL was last known to have it
	given game.Total // what Redis was last known to have given away
}

// watch looks at a round whenever something is due, until it is closed or frozen, or ctx is done.
func (s *Service) watch(ctx context.Context, round game.Round) {
	w := &watch{Service: s, round: round}
	failures := patience.Backoff{Worst: worstDelay}
	for {
		wait, err := w.look(ctx)
		switch {
		case ctx.Err() != nil || (err == nil && w.done()):
			return
		case err != nil:
			wait = failures.Next()
			s.log.Warn("cannot keep a round", "round", round.ID, "room", round.Room, "error", err, "again_in", wait)
		default:
			failures.Reset()
		}
		if !patience.Pause(ctx, wait, nil) {
			return
		}
	}
}

func (w *watch) done() bool { return w.round.Phase.Over() || w.round.Frozen }

// look does what is due and returns how long nothing else is.
func (w *watch) look(ctx context.Context) (wait time.Duration, err error) {
	defer func() {
		if broken := recover(); broken != nil { // a round that cannot be worked out must not stop the others
			err = fmt.Errorf("panic: %v\n%s", broken, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	if err := w.refresh(ctx); err != nil || w.done() {
		return 0, err
	}
	switch {
	case w.round.StartsAt == 0:
		return 0, w.finishOpening(ctx)
	case w.pool.Now() >= w.round.EndsAt:
		err := w.close(ctx, game.ByTime)
		if !errors.Is(err, game.ErrNotYet) {
			return 0, err
		}
	}
	return w.follow(ctx)
}

// refresh reads the round from SQL. While that is away an opened round goes by what was known: it still ends in Redis.
func (w *watch) refresh(ctx context.Context) error {
	fresh, err := w.books.Round(ctx, w.round.ID)
	if err == nil {
		w.round = fresh
	} else if w.round.StartsAt == 0 {
		return err
	}
	return nil
}

// finishOpening repeats what a start that broke off left to be done.
func (w *watch) finishOpening(ctx context.Context) (err error) {
	w.round, err = w.open(ctx, w.round)
	if keysLost(err) {
		w.round, err = w.lost(ctx, w.round, w.given, err)
	}
	return err
}

// follow brings SQL to where the round stands in Redis, and returns the time until it must be looked at again.
func (w *watch) follow(ctx context.Context) (time.Duration, error) {
	standing, err := w.pool.Standing(ctx, w.round.ID)
	if errors.Is(err, game.ErrGone) { // keys that do not fit together are a settler's to repair: see settle
		w.round, err = w.lost(ctx, w.round, w.given, err)
		return 0, err
	}
	if err != nil {
		return 0, fmt.Errorf("read standing: %w", err)
	}
	w.given = claimed(w.round, standing.Left)
	due := standing.EndsAt
	switch {
	case standing.Phase.Over():
		w.round, err = w.noteClosed(ctx, w.round, standing)
		return 0, err
	case standing.Left.Packets == 0 && w.round.Settings.CloseWhenSoldOut:
		return 0, w.close(ctx, game.BySoldOut)
	case standing.Now < standing.StartsAt:
		due = standing.StartsAt
	case w.round.Phase == game.Countdown:
		w.round, err = w.books.NoteRaining(ctx, w.round.ID)
	}
	return w.until(due), err
}

// close closes the round in Redis, then in SQL.
func (w *watch) close(ctx context.Context, reason game.CloseReason) error {
	closed, err := w.closeFor(ctx, w.round, reason)
	if errors.Is(err, game.ErrGone) {
		closed, err = w.lost(ctx, w.round, w.given, err)
	}
	w.round = closed
	return err
}

// until is the time from now to the moment due, at most lookEvery. A moment that has passed, though not yet by Redis'
// own clock, is tried again after a millisecond.
func (w *watch) until(due game.Moment) time.Duration {
	wait := time.Duration(due-w.pool.Now()) * time.Millisecond
	return max(time.Millisecond, min(wait, lookEvery))
}
