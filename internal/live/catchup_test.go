package live

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// learnsWithin checks that a tab is told of its player's n-th claim in time.
func learnsWithin(t *testing.T, m *member, n int, limit time.Duration) {
	t.Helper()
	time.Sleep(limit)
	synctest.Wait()
	if said := claimsOf(t, m); len(said) != n {
		t.Errorf("%v later the tab was told of %d claims, want %d", limit, len(said), n)
	}
}

// Invariant 8: whoever misses a message converges by itself within two seconds. Here some are lost, and the next one shows a gap.
func TestAGapIsFilledWithinTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ann := r.books.Join(code, "ann")
		_, m := r.sit(r.room, ann)
		round := r.begin(plan())
		until(round.StartsAt + 5000)
		deaf := true
		r.world.set(func(*world) { r.side.ear.deaf = func(h game.Event) bool { return deaf } })
		r.world.claim(round.ID, 1, ann.ID, "somebody")
		r.world.claim(round.ID, 2, "somebody")
		r.world.set(func(*world) { deaf = false })
		r.world.claim(round.ID, 3, "somebody")
		learnsWithin(t, m, 1, 2*leastPause)
		if r.room.rain.applied != 4 {
			t.Errorf("claims up to %d are known, want 4", r.room.rain.applied)
		}
	})
}

// The tally counts claims that were not heard of.
func TestATallyShowsWhatIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ann := r.books.Join(code, "ann")
		_, m := r.sit(r.room, ann)
		round := r.begin(plan())
		until(round.StartsAt + 5000)
		r.world.set(func(*world) { r.side.ear.deaf = func(h game.Event) bool { return h.Claims != nil } })
		r.world.claim(round.ID, 1, ann.ID)
		screen := &member{}
		r.room.Watch(wire.RoleScreen, screen)
		for heard := tallies(t, screen); len(heard) == 0 || heard[len(heard)-1].ClaimedPackets == 0; heard = tallies(t, screen) {
			time.Sleep(time.Millisecond)
		}
		learnsWithin(t, m, 1, 2*leastPause)
	})
}

// A read that fails is repeated soon.
func TestAFailedReadIsRepeatedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ann := r.books.Join(code, "ann")
		_, m := r.sit(r.room, ann)
		round := r.begin(plan())
		until(round.StartsAt + 5000)
		r.world.set(func(w *world) { r.side.ear.deaf = func(game.Event) bool { return true } })
		r.world.claim(round.ID, 1, ann.ID)
		failed := 0
		r.world.set(func(w *world) {
			w.fails = func(what string) error {
				if what == "claims" && failed == 0 {
					failed++
					return game.ErrUnknown
				}
				return nil
			}
		})
		r.rooms.Hear(game.Event{Room: code, Missed: true})
		learnsWithin(t, m, 1, activePace+3*leastPause)
	})
}

// The subscription was lost and came back.
func TestAReconnectionReadsAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ann := r.books.Join(code, "ann")
		_, m := r.sit(r.room, ann)
		round := r.begin(plan())
		until(round.StartsAt + 5000)
		r.world.set(func(*world) { r.side.ear.rooms[code] = false })
		r.world.claim(round.ID, 1, ann.ID)
		r.world.close(round.ID, game.Stopped)
		r.world.set(func(*world) { r.side.ear.rooms[code] = true })
		r.rooms.Hear(game.Event{Room: code, Missed: true})
		learnsWithin(t, m, 1, 100*time.Millisecond)
		seen := changes(t, m)
		if last := seen[len(seen)-1].Round; last.Phase != game.Closed {
			t.Errorf("the phase is %s", last.Phase)
		}
	})
}

// Messages come faster than they can be told: the inbox overflows, and what did not fit is read again.
func TestAnOverflowingInboxIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ann := r.books.Join(code, "ann")
		_, m := r.sit(r.room, ann)
		round := r.begin(plan(func(s *game.Settings) { s.Packets, s.Total, s.Cap = 10_000, 1_000_000, 100 }))
		until(round.StartsAt + 5000)
		synctest.Wait()
		busy, let := make(chan struct{}), make(chan struct{})
		go func() { _ = r.room.do(t.Context(), func() { close(busy); <-let }) }() // the speaking loop is held up
		<-busy
		for n := range inboxSize + 500 {
			player := "somebody"
			if n%100 == 0 {
				player = ann.ID
			}
			r.world.claim(round.ID, game.DropID(n+1), player) //nolint:gosec // small
		}
		close(let)
		learnsWithin(t, m, 46, 2*time.Second)
		if r.room.rain.applied != inboxSize+500 {
			t.Errorf("claims up to %d are known", r.room.rain.applied)
		}
	})
}

// Nothing can be read for a while: the room tries until it can, and says nothing wrong meanwhile.
func TestCatchingUpIsTriedUntilItWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ann := r.books.Join(code, "ann")
		_, m := r.sit(r.room, ann)
		round := r.begin(plan())
		until(round.StartsAt + 5000)
		r.world.set(func(w *world) {
			w.fails = func(string) error { return fmt.Errorf("redis: %w", game.ErrUnknown) }
			r.side.ear.deaf = func(game.Event) bool { return true }
		})
		r.world.claim(round.ID, 1, ann.ID)
		time.Sleep(10 * time.Second)
		r.world.set(func(w *world) { w.fails, r.side.ear.deaf = nil, nil })
		learnsWithin(t, m, 1, 2*time.Second)
	})
}

// A round that nobody heard of: its message was lost, and it is found by looking.
func TestARoundWhoseMessageWasLostIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		_, m := r.sit(r.room, r.books.Join(code, "ann"))
		r.world.set(func(*world) { r.side.ear.deaf = func(game.Event) bool { return true } })
		time.Sleep(777 * time.Millisecond)
		r.begin(plan())
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(changes(t, m)) != 1 {
			t.Errorf("two seconds later: %v", changes(t, m))
		}
	})
}

// Keys of an old round are gone: there is nothing to catch up with, and taps go on to the script.
func TestAnOldRoundWithoutKeysIsNotReadForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		i := newInstance(t, w, testkit.NewBooks(code), "one")
		round := plan()
		round.Phase, round.Reason, round.StartsAt, round.EndsAt = game.Closed, game.ByTime, 1, 30_001
		i.books.Keep(round)
		seat, tab := i.sit(i.enter(), i.books.Join(code, "ann"))
		time.Sleep(10 * time.Second)
		if n := i.complaints.Load(); n != 0 {
			t.Errorf("the log has %d complaints", n)
		}
		if _, verdict := seat.Tap(round.ID, 1, tab, &answers{}); verdict != Asked {
			t.Errorf("verdict %v", verdict)
		}
	})
}

// The last packet is gone: that is said until the round is closed, and not after.
func TestSoldOutIsReportedUntilItIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.closes = false // the database is down
		round := r.begin(plan())
		until(round.StartsAt + 5000)
		r.world.claim(round.ID, 1, "1", "2", "3", "4", "5", "6", "7", "8", "9")
		time.Sleep(2 * time.Second)
		if n := len(r.soldOut); n != 0 {
			t.Errorf("reported %d times with a packet left", n)
		}
		gone := time.Now()
		r.world.claim(round.ID, 1, "10")
		time.Sleep(3 * time.Second)
		r.world.set(func(*world) { r.closes = true })
		time.Sleep(3 * time.Second)
		r.world.set(func(*world) {
			if n := len(r.soldOut); n < 8 || n > 16 || r.soldOut[0].Sub(gone) > 300*time.Millisecond {
				t.Errorf("reported %d times in three seconds, first after %v", n, r.soldOut[0].Sub(gone))
			}
			if last := r.soldOut[len(r.soldOut)-1]; last.Sub(gone) > 3500*time.Millisecond {
				t.Error("still reported after the round was closed")
			}
		})
	})
}

func TestSoldOutIsNotReportedForARoundThatPlaysOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		round := r.begin(plan(func(s *game.Settings) { s.CloseWhenSoldOut = false }))
		until(round.StartsAt + 5000)
		r.world.claim(round.ID, 1, "1", "2", "3", "4", "5", "6", "7", "8", "9", "10")
		until(round.EndsAt + 5000)
		if n := len(r.soldOut); n != 0 {
			t.Errorf("reported %d times", n)
		}
	})
}

// The instance whose batch took the last packet knows it from the reply, before it hears of the claims.
func TestSoldOutIsKnownFromABatchOfOnesOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		round := r.begin(plan())
		until(round.StartsAt + 5000)
		r.world.set(func(*world) { r.side.ear.deaf = func(h game.Event) bool { return h.Claims != nil } })
		r.world.claim(round.ID, 1, "1", "2", "3", "4", "5", "6", "7", "8", "9", "10")
		r.rooms.Grabbed(code, "another-round", game.Grabbed{})
		synctest.Wait()
		if n := len(r.soldOut); n != 0 {
			t.Fatalf("reported %d times by another round's batch", n)
		}
		r.rooms.Grabbed(code, round.ID, game.Grabbed{})
		time.Sleep(leastPause)
		synctest.Wait()
		r.world.set(func(*world) {
			if n := len(r.soldOut); n != 1 {
				t.Errorf("reported %d times", n)
			}
		})
	})
}
