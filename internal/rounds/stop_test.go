package rounds_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/rounds"
)

func TestCancelInTheCountdown(t *testing.T) {
	withEnv(t, func(h *env) {
		i, other := h.addInstance(rounds.Options{}), h.addInstance(rounds.Options{})
		id := h.draft()
		h.must(i.Start(h.Context(), id))
		h.sleep(3 * time.Second)
		at := h.pool.Now()
		for _, again := range []*instance{i, i, other} {
			if got := h.must(again.Cancel(h.Context(), id)); got.Phase != game.Closed || got.Reason != game.Cancelled {
				h.Errorf("cancelled: %s (%s)", got.Phase, got.Reason)
			}
		}
		if got := h.must(other.Stop(h.Context(), id)); got.Reason != game.Cancelled {
			h.Errorf("stopped after it was cancelled: %s", got.Reason)
		}
		h.sleep(time.Minute)
		h.expectClosed(id, game.Cancelled, at)
		h.must(i.Start(h.Context(), h.draft())) // the room is free
	})
}

func TestCancelOnceItRainsIsRefused(t *testing.T) {
	withEnv(t, func(h *env) {
		host := h.addPassive(rounds.Options{}) // nobody notes that it rains: only redis knows
		id := h.draft()
		round := h.must(host.Start(h.Context(), id))
		h.sleepUntil(round.StartsAt)
		if _, err := host.Cancel(h.Context(), id); !errors.Is(err, game.ErrWrongPhase) {
			h.Errorf("cancelled at the first drop: %v", err)
		}
		if got := h.must(host.Stop(h.Context(), id)); got.Reason != game.Stopped {
			h.Errorf("stopped at the first drop: %s", got.Reason)
		}
		if _, err := host.Cancel(h.Context(), id); !errors.Is(err, game.ErrWrongPhase) {
			h.Errorf("a stopped round is cancelled: %v", err)
		}
	})
}

func TestStopCancelsBeforeTheFirstDropAndStopsAfterIt(t *testing.T) {
	for name, moment := range map[string]struct {
		after  time.Duration
		reason game.CloseReason
	}{
		"in the countdown":                    {9999 * time.Millisecond, game.Cancelled},
		"while it rains":                      {10 * time.Second, game.Stopped},
		"after its end, before anybody looks": {time.Hour, game.Stopped},
	} {
		t.Run(name, func(t *testing.T) {
			withEnv(t, func(h *env) {
				host, other := h.addPassive(rounds.Options{}), h.addPassive(rounds.Options{})
				id := h.draft()
				round := h.must(host.Start(h.Context(), id))
				h.sleepUntil(round.StartsAt - 10_000 + game.Moment(moment.after.Milliseconds()))
				at := h.pool.Now()
				h.pool.claim(id, 5)
				h.must(host.Stop(h.Context(), id))
				h.sleep(time.Second)
				h.must(other.Stop(h.Context(), id))
				h.expectClosed(id, moment.reason, at)
			})
		})
	}
}

func TestDraftsAndUnknownRoundsCannotBeStopped(t *testing.T) {
	withEnv(t, func(h *env) {
		host := h.addPassive(rounds.Options{})
		id := h.draft()
		for _, stop := range []func(context.Context, string) (game.Round, error){host.Stop, host.Cancel} {
			if _, err := stop(h.Context(), id); !errors.Is(err, game.ErrWrongPhase) {
				h.Errorf("a draft: %v", err)
			}
			if _, err := stop(h.Context(), "no round"); !errors.Is(err, game.ErrNotFound) {
				h.Errorf("an unknown round: %v", err)
			}
		}
		if _, err := host.Start(h.Context(), "no round"); !errors.Is(err, game.ErrNotFound) {
			h.Errorf("an unknown round starts: %v", err)
		}
		if err := host.SoldOut(h.Context(), id); err != nil {
			h.Errorf("a rumour about a draft: %v", err)
		}
		if _, made := h.pool.read(id); made || h.readBooks(id).Phase != game.Draft {
			h.Error("something happened to the draft")
		}
	})
}

// Redis is down while a host starts a round and then cancels it. Once Redis is back the round is cancelled there too. So if the start
// was only delayed, it finds a closed round and cannot open it.
func TestCancelOfARoundThatRedisHasNotSeen(t *testing.T) {
	withEnv(t, func(h *env) {
		host := h.addPassive(rounds.Options{})
		id := h.draft()
		h.pool.setAway(true)
		if _, err := host.Start(h.Context(), id); !errors.Is(err, errAway) {
			h.Fatalf("the host hears %v", err)
		}
		if _, err := host.Cancel(h.Context(), id); !errors.Is(err, errAway) {
			h.Errorf("cancelled without redis: %v", err)
		}
		begun := h.readBooks(id)
		h.pool.setAway(false)
		at := h.pool.Now()
		h.must(host.Cancel(h.Context(), id))
		h.expectClosed(id, game.Cancelled, at)
		if late, err := h.pool.Open(h.Context(), begun, nil); err != nil || late.Phase != game.Closed {
			h.Errorf("a late start makes the round %s (%v)", late.Phase, err)
		}
	})
}

// The instance dies between closing in Redis and closing in SQL. Keep notes the first reason, not its own.
func TestInterruptedCloseIsCompletedByKeep(t *testing.T) {
	withEnv(t, func(h *env) {
		host := h.addPassive(rounds.Options{})
		id := h.draft()
		round := h.must(host.Start(h.Context(), id))
		h.sleepUntil(round.StartsAt + 1000)
		at := h.pool.Now()
		host.books.setAway(true)
		if _, err := h.pool.Close(h.Context(), round, game.Stopped); err != nil {
			h.Fatal(err)
		}
		h.addInstance(rounds.Options{})
		h.sleep(time.Second)
		h.expectClosed(id, game.Stopped, at)
	})
}

func TestSoldOutClosesEarlyOnlyIfTheSettingsWantIt(t *testing.T) {
	for name, early := range map[string]bool{"as wanted": true, "not wanted": false} {
		t.Run(name, func(t *testing.T) {
			withEnv(t, func(h *env) {
				i := h.addInstance(rounds.Options{})
				id := h.draft(func(s *game.Settings) { s.CloseWhenSoldOut = early })
				round := h.must(i.Start(h.Context(), id))
				h.sleepUntil(round.StartsAt + 4500)
				h.pool.claim(id, 100)
				at, reason := h.pool.Now(), game.BySoldOut
				for range 2 {
					if err := i.SoldOut(h.Context(), id); err != nil {
						h.Error(err)
					}
				}
				if !early {
					if got := h.readBooks(id); got.Phase != game.Raining {
						h.Errorf("closed by %s though it should rain to its end", got.Reason)
					}
					at, reason = round.EndsAt, game.ByTime
				}
				h.sleepUntil(round.EndsAt)
				h.expectClosed(id, reason, at)
			})
		})
	}
}

func TestSoldOutCalledWronglyDoesNothing(t *testing.T) {
	withEnv(t, func(h *env) {
		i := h.addInstance(rounds.Options{})
		id := h.draft()
		round := h.must(i.Start(h.Context(), id))
		h.sleepUntil(round.StartsAt + 1000)
		h.pool.claim(id, 99)
		if err := i.SoldOut(h.Context(), id); err != nil || h.readBooks(id).Phase != game.Raining {
			h.Errorf("a wrong rumour closed the round, or failed: %v", err)
		}
		h.pool.claim(id, 1) // and nobody tells
		h.sleep(time.Second)
		if got := h.readBooks(id); got.Reason != game.BySoldOut {
			h.Errorf("a second after its last packet the round is in %s", got.Phase)
		}
	})
}
