package rounds_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/rounds"
)

func TestCreateRefusesBadSettingsAndCleansTheTitle(t *testing.T) {
	withEnv(t, func(h *env) {
		host := h.addPassive(rounds.Options{})
		settings := testSettings()
		settings.Title = "  第一场 "
		if got := h.must(host.Create(h.Context(), h.room, settings, true)); got.Settings.Title != "第一场" || !got.Rehearsal {
			h.Errorf("created %q, a rehearsal: %t", got.Settings.Title, got.Rehearsal)
		}
		if _, err := host.Create(h.Context(), "NOROOM", settings, false); !errors.Is(err, game.ErrNotFound) {
			h.Errorf("a round without a room: %v", err)
		}
		settings.Packets = 0
		var refused *game.Invalid
		if _, err := host.Create(h.Context(), h.room, settings, false); !errors.As(err, &refused) || refused.Field != "packets" {
			h.Errorf("a round without packets: %v", err)
		}
	})
}

func TestRoundPhasesFromDraftToClosed(t *testing.T) {
	withEnv(t, func(h *env) {
		i := h.addInstance(rounds.Options{})
		// No whole seconds, so that nothing is right only because Keep looks every second.
		id := h.draft(func(s *game.Settings) { s.Countdown, s.Duration = 2345, 3678 })
		begun := h.pool.Now()
		round := h.must(i.Start(h.Context(), id))
		if round.Phase != game.Countdown || round.StartsAt < begun+2345 || round.EndsAt != round.StartsAt+3678 {
			h.Fatalf("started: %s, rain from %d to %d ms after", round.Phase, round.StartsAt-begun, round.EndsAt-begun)
		}
		for _, at := range []struct {
			moment game.Moment
			phase  game.Phase
		}{
			{round.StartsAt - 1, game.Countdown}, {round.StartsAt, game.Raining},
			{round.EndsAt - 1, game.Raining}, {round.EndsAt, game.Closed},
		} {
			h.sleepUntil(at.moment)
			if got := h.readBooks(id); got.Phase != at.phase {
				h.Errorf("%d ms after the start the round is in %s", at.moment-round.StartsAt, got.Phase)
			}
		}
		h.expectClosed(id, game.ByTime, round.EndsAt)
	})
}

// Several clicks on start, from several windows and over two instances, start one round once, and all get the same result.
func TestStartFromTwoWindowsStartsOnce(t *testing.T) {
	withEnv(t, func(h *env) {
		instances := []*instance{h.addInstance(rounds.Options{}), h.addInstance(rounds.Options{})}
		id := h.draft()
		got := make([]game.Round, 10)
		var clicks sync.WaitGroup
		for n := range got {
			clicks.Go(func() {
				var err error
				if got[n], err = instances[n%2].Start(h.Context(), id); err != nil {
					h.Errorf("click %d: %v", n, err)
				}
			})
		}
		clicks.Wait()
		keys, _ := h.pool.read(id)
		for n, round := range got {
			if round.Secret != keys.secret || round.StartsAt != keys.standing.StartsAt || round.Commitment != got[0].Commitment {
				h.Errorf("click %d was told another start or secret than redis has", n)
			}
		}
		h.sleepUntil(got[0].StartsAt + 5)
		if again := h.must(instances[1].Start(h.Context(), id)); again.StartsAt != got[0].StartsAt || again.Phase != game.Raining {
			h.Errorf("a click while it rains moved the start by %d ms", again.StartsAt-got[0].StartsAt)
		}
		h.sleepUntil(got[0].EndsAt)
		h.expectClosed(id, game.ByTime, got[0].EndsAt)
		if _, err := instances[0].Start(h.Context(), id); !errors.Is(err, game.ErrWrongPhase) {
			h.Errorf("a closed round starts: %v", err)
		}
	})
}

// Two hosts start two rounds of one room at once. One starts; the other gets ErrRoomBusy, and Redis has nothing of that round.
func TestTwoHostsStartRoundsAtOnce(t *testing.T) {
	withEnv(t, func(h *env) {
		instances := []*instance{h.addInstance(rounds.Options{}), h.addInstance(rounds.Options{})}
		ids := []string{h.draft(), h.draft()}
		errs := make([]error, 2)
		var hosts sync.WaitGroup
		for n := range ids {
			hosts.Go(func() { _, errs[n] = instances[n].Start(h.Context(), ids[n]) })
		}
		hosts.Wait()
		won := 0
		if errs[0] != nil {
			won = 1
		}
		lost := 1 - won
		if errs[won] != nil || !errors.Is(errs[lost], game.ErrRoomBusy) {
			h.Fatalf("the hosts heard %v and %v", errs[0], errs[1])
		}
		if _, made := h.pool.read(ids[lost]); made || h.readBooks(ids[lost]).Phase != game.Draft {
			h.Error("the refused round left something behind")
		}
		h.sleepUntil(h.readBooks(ids[won]).EndsAt)
		h.must(instances[lost].Start(h.Context(), ids[lost])) // the room is free again
	})
}

func TestDealtAmountsComeFromTheSecret(t *testing.T) {
	withEnv(t, func(h *env) {
		i := h.addPassive(rounds.Options{})
		dealt := h.draft(func(s *game.Settings) { s.Split, s.Deal = game.SplitDealt, game.DealDoubleMean })
		round := h.must(i.Start(h.Context(), dealt))
		keys, _ := h.pool.read(dealt)
		if want := game.DealtAmounts(round.Settings, round.Secret); !slices.Equal(keys.amounts, want) {
			h.Errorf("%d amounts were dealt, not those of the secret", len(keys.amounts))
		}
		live := h.draftIn(h.newRoom())
		h.must(i.Start(h.Context(), live))
		if keys, _ := h.pool.read(live); keys.amounts != nil {
			h.Error("a live round was dealt amounts")
		}
	})
}

// Redis is down when the host starts the round, who gets an error. When Redis is back Keep completes the start, with the first secret.
func TestStartWhileRedisIsAwayIsCompletedByKeep(t *testing.T) {
	withEnv(t, func(h *env) {
		i := h.addInstance(rounds.Options{})
		id := h.draft()
		h.pool.setAway(true)
		if _, err := i.Start(h.Context(), id); !errors.Is(err, errAway) {
			h.Fatalf("the host hears %v", err)
		}
		secret := h.readBooks(id).Secret
		h.sleep(time.Minute)
		h.pool.setAway(false)
		back := h.pool.Now()
		h.sleep(2 * time.Second)
		round := h.readBooks(id)
		if late := round.StartsAt - back - 10_000; round.StartsAt == 0 || late < 0 || late > 2000 {
			h.Fatalf("the round starts at %d, %d ms later than it could", round.StartsAt, late)
		}
		if keys, _ := h.pool.read(id); keys.secret != secret || round.Secret != secret || secret == "" {
			h.Error("the secret is not that of the first start")
		}
		h.sleepUntil(round.EndsAt)
		h.expectClosed(id, game.ByTime, round.EndsAt)
	})
}

func TestStartWhileRedisIsAwayIsFinishedByTheNextStart(t *testing.T) {
	withEnv(t, func(h *env) {
		host, other := h.addPassive(rounds.Options{}), h.addPassive(rounds.Options{})
		id := h.draft()
		h.pool.setAway(true)
		for range 2 {
			if _, err := host.Start(h.Context(), id); !errors.Is(err, errAway) {
				h.Fatalf("the host hears %v", err)
			}
		}
		secret := h.readBooks(id).Secret
		h.pool.setAway(false)
		round := h.must(other.Start(h.Context(), id))
		if keys, _ := h.pool.read(id); round.StartsAt == 0 || keys.secret != secret || round.Secret != secret {
			h.Error("the repeated start did not open the round with the first secret")
		}
	})
}

// The instance dies after it has begun the round in SQL, or after it has opened it in Redis. Another completes the start; existing
// keys keep their times.
func TestInterruptedStartIsCompletedByAnotherInstance(t *testing.T) {
	for name, afterOpening := range map[string]bool{"after a": false, "after b": true} {
		t.Run(name, func(t *testing.T) {
			withEnv(t, func(h *env) {
				id := h.draft()
				begun := h.must(h.book.Begin(h.Context(), id, game.NewSecret()))
				starts := h.pool.Now() + 5000 + 10_000
				if afterOpening {
					standing, err := h.pool.Open(h.Context(), begun, nil)
					if err != nil {
						h.Fatal(err)
					}
					starts = standing.StartsAt
				}
				h.sleep(5 * time.Second)
				h.addInstance(rounds.Options{})
				h.sleep(time.Second)
				round := h.readBooks(id)
				keys, _ := h.pool.read(id)
				if late := round.StartsAt - starts; round.StartsAt == 0 || late < 0 || late > 100 || keys.secret != begun.Secret {
					h.Fatalf("the round starts at %d, expected about %d, with its secret: %t", round.StartsAt, starts, keys.secret == begun.Secret)
				}
				h.sleepUntil(round.EndsAt)
				h.expectClosed(id, game.ByTime, round.EndsAt)
			})
		})
	}
}
