package rounds_test

import (
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/rounds"
)

// plan sets a draft's start to a time from now.
func (h *env) plan(id string, in time.Duration) game.Moment {
	h.Helper()
	on := h.pool.Now() + game.Moment(in.Milliseconds())
	h.must(h.book.PlanStart(h.Context(), id, on))
	return on
}

// expectOpened checks that a round was opened in Redis within a second of its plan.
func (h *env) expectOpened(id string, on game.Moment) {
	h.Helper()
	keys, opened := h.pool.read(id)
	if !opened {
		h.Fatalf("the round is %s and was not opened", h.readBooks(id).Phase)
	}
	at := keys.standing.StartsAt - game.Moment(testSettings().Countdown)
	if at < on || at > on+1000 {
		h.Errorf("opened %d ms after its plan", at-on)
	}
}

func TestAPlannedRoundStartsOnTimeWhicheverInstanceLives(t *testing.T) {
	withEnv(t, func(h *env) {
		first, _ := h.addInstance(rounds.Options{}), h.addInstance(rounds.Options{})
		id := h.draft()
		on := h.plan(id, time.Minute)
		h.sleepUntil(on - 1)
		if _, early := h.pool.read(id); early {
			t.Fatal("opened before its time")
		}
		first.die()
		h.sleepUntil(on + 1000)
		h.expectOpened(id, on)
		h.sleepUntil(on + 41_000)
		h.expectClosed(id, game.ByTime, h.readBooks(id).EndsAt)
	})
}

func TestACancelledPlanDoesNotStart(t *testing.T) {
	withEnv(t, func(h *env) {
		h.addInstance(rounds.Options{})
		id := h.draft()
		h.plan(id, time.Minute)
		h.sleep(30 * time.Second)
		h.must(h.book.PlanStart(h.Context(), id, 0))
		h.sleep(time.Hour)
		if round := h.readBooks(id); round.Phase != game.Draft {
			t.Errorf("the round is %s", round.Phase)
		}
	})
}

func TestAPlannedRoundWaitsForTheOneBeforeIt(t *testing.T) {
	withEnv(t, func(h *env) {
		h.addInstance(rounds.Options{})
		long := h.draft(func(s *game.Settings) { s.Duration = 120_000 })
		next := h.draft()
		on := h.plan(long, 10*time.Second)
		h.plan(next, 20*time.Second)
		h.sleepUntil(on + 1000)
		ends := h.readBooks(long).EndsAt
		h.sleepUntil(ends - 1)
		if _, opened := h.pool.read(next); opened {
			t.Fatal("two rounds of one room run at once")
		}
		h.sleepUntil(ends + 2000)
		h.expectOpened(next, ends)
	})
}

// A server that comes back hours later must not start a round that nobody expects any more.
func TestAPlanThatIsLongPastIsDropped(t *testing.T) {
	withEnv(t, func(h *env) {
		id := h.draft()
		h.plan(id, time.Minute)
		h.sleep(3 * time.Hour)
		h.addInstance(rounds.Options{})
		h.sleep(5 * time.Second)
		if round := h.readBooks(id); round.Phase != game.Draft || round.StartsOn != 0 {
			t.Errorf("the round is %s, planned for %d", round.Phase, round.StartsOn)
		}
	})
}
