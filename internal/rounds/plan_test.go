package rounds_test

import (
	"slices"
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

// wantMissed checks that a round missed its start, as any instance reads it, and that hosts were told of it once.
func (h *env) wantMissed(id string, on game.Moment, why game.MissReason) {
	h.Helper()
	if round := h.readBooks(id); round.Phase != game.Draft || round.StartsOn != 0 || round.MissedOn != on || round.MissReason != why {
		h.Errorf("the round is %s, planned for %d, missed %d (%q), want %d (%q)", round.Phase, round.StartsOn, round.MissedOn, round.MissReason, on, why)
	}
	h.pool.change(func() {
		if want := []game.NoticeCode{game.NoticeRoundsChanged}; !slices.Equal(h.pool.told, want) {
			h.Errorf("hosts were told %v, want %v", h.pool.told, want)
		}
	})
}

// A server that comes back hours later must not start a round that nobody expects any more. Its host is told why it did not start.
func TestAPlanThatIsLongPastIsMissedWithItsReason(t *testing.T) {
	withEnv(t, func(h *env) {
		id := h.draft()
		on := h.plan(id, time.Minute)
		h.sleep(3 * time.Hour)
		first, _ := h.addInstance(rounds.Options{}), h.addInstance(rounds.Options{})
		h.sleep(5 * time.Second)
		h.wantMissed(id, on, game.MissedNotRunning)
		first.die()
		h.addInstance(rounds.Options{})
		h.sleep(time.Hour)
		h.wantMissed(id, on, game.MissedNotRunning)
		h.must(h.book.PlanStart(h.Context(), id, 0))
		if round := h.readBooks(id); round.MissedOn != 0 {
			t.Error("the host has seen it, and it stays")
		}
	})
}

// A round that is on hold keeps its room for an hour: the one that was to follow says so, and does not start when the room is free.
func TestAPlanWhoseRoomStaysBusyIsMissedWithItsReason(t *testing.T) {
	withEnv(t, func(h *env) {
		i, _ := h.addInstance(rounds.Options{}), h.addInstance(rounds.Options{})
		long, next := h.draft(), h.draft()
		round := h.must(i.Start(h.Context(), long))
		on := h.plan(next, time.Minute)
		h.sleepUntil(round.StartsAt + 1000)
		h.pool.change(func() { delete(h.pool.keys, long) })
		h.sleepUntil(on + 9*60_000)
		if waits := h.readBooks(next); waits.StartsOn != on || waits.MissedOn != 0 {
			t.Errorf("while its room is busy it is planned for %d, missed %d", waits.StartsOn, waits.MissedOn)
		}
		h.sleepUntil(on + 10*60_000 + 5000)
		h.wantMissed(next, on, game.MissedRoomBusy)
	})
}

// The database is away for an hour around the planned start, on every instance.
func TestAPlanThatNoInstanceCouldReadIsMissedWithItsReason(t *testing.T) {
	withEnv(t, func(h *env) {
		i := h.addInstance(rounds.Options{})
		id := h.draft()
		on := h.plan(id, time.Minute)
		i.books.setAway(true)
		h.sleepUntil(on + 60*60_000)
		i.books.setAway(false)
		h.sleep(time.Minute)
		h.wantMissed(id, on, game.MissedNotRunning)
	})
}
