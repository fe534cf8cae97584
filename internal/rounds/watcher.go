package rounds

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"redrain/internal/backoff"
	"redrain/internal/game"
)

// watcher takes one open round through its phases, on one instance. It is used by one goroutine.
type watcher struct {
	*Service
	round       game.Round // as last read from SQL
	lastClaimed game.Total // what was claimed when Redis was last read
}

// watch does what is due for a round until it is closed or frozen, or ctx is done.
func (s *Service) watch(ctx context.Context, round game.Round) {
	w := &watcher{Service: s, round: round}
	failures := backoff.Exponential{Max: maxRetryDelay}
	for {
		wait, err := w.step(ctx)
		switch {
		case ctx.Err() != nil || (err == nil && w.done()):
			return
		case err != nil:
			wait = failures.Next()
			s.log.Warn("cannot keep a round", "round", round.ID, "room", round.Room, "error", err, "again_in", wait)
		default:
			failures.Reset()
		}
		if !backoff.Sleep(ctx, wait, nil) {
			return
		}
	}
}

func (w *watcher) done() bool { return w.round.Phase.Over() || w.round.Frozen }

// step does what is due now, and returns how long to wait for the next step.
func (w *watcher) step(ctx context.Context) (wait time.Duration, err error) {
	defer func() {
		if cause := recover(); cause != nil { // a bug met in one round must not stop the other rounds
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	if err := w.refresh(ctx); err != nil || w.done() {
		return 0, err
	}
	switch {
	case w.round.StartsAt == 0:
		return 0, w.finishOpening(ctx)
	case w.pool.Now() >= w.round.EndsAt:
		err := w.close(ctx, game.ByTime)
		if err == nil && w.round.Reason == game.ByTime {
			w.closeDelay.Observe(float64(w.pool.Now()-w.round.EndsAt) / 1000)
		}
		if !errors.Is(err, game.ErrNotYet) {
			return 0, err
		}
	}
	return w.syncFromRedis(ctx)
}

// refresh reads the round from SQL. While SQL is down an opened round continues as last read, so that it still ends on time in Redis.
func (w *watcher) refresh(ctx context.Context) error {
	fresh, err := w.books.Round(ctx, w.round.ID)
	if err == nil {
		w.round = fresh
	} else if w.round.StartsAt == 0 {
		return err
	}
	return nil
}

// finishOpening completes a start that was interrupted.
func (w *watcher) finishOpening(ctx context.Context) (err error) {
	w.round, err = w.open(ctx, w.round)
	if keysLost(err) {
		w.round, err = w.handleLostKeys(ctx, w.round, w.lastClaimed, err)
	}
	return err
}

// syncFromRedis brings SQL to the round's state in Redis, and returns the time until the next step.
func (w *watcher) syncFromRedis(ctx context.Context) (time.Duration, error) {
	standing, err := w.pool.Standing(ctx, w.round.ID)
	if errors.Is(err, game.ErrGone) { // keys of which only some are missing are repaired by package settle
		w.round, err = w.handleLostKeys(ctx, w.round, w.lastClaimed, err)
		return 0, err
	}
	if err != nil {
		return 0, fmt.Errorf("read standing: %w", err)
	}
	w.lastClaimed = claimedTotal(w.round, standing.Left)
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
	return w.timeUntil(due), err
}

// close closes the round in Redis, then in SQL.
func (w *watcher) close(ctx context.Context, reason game.CloseReason) error {
	closed, err := w.closeFor(ctx, w.round, reason)
	if errors.Is(err, game.ErrGone) {
		closed, err = w.handleLostKeys(ctx, w.round, w.lastClaimed, err)
	}
	w.round = closed
	return err
}

// timeUntil is the time from now until due, at most pollInterval. It is at least a millisecond, since due may be over by the estimate
// and not yet by Redis' own clock.
func (w *watcher) timeUntil(due game.Moment) time.Duration {
	wait := time.Duration(due-w.pool.Now()) * time.Millisecond
	return max(time.Millisecond, min(wait, pollInterval))
}
