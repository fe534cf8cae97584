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

// wantClaimsAfter waits, and then checks that a tab was sent n claims.
func wantClaimsAfter(t *testing.T, m *recordingClient, n int, limit time.Duration) {
	t.Helper()
	time.Sleep(limit)
	synctest.Wait()
	if sent := claimMessages(t, m); len(sent) != n {
		t.Errorf("%v later the tab was sent %d claims, want %d", limit, len(sent), n)
	}
}

// Invariant 8: an instance that misses an event catches up by itself within two seconds. Here the next event shows a gap.
func TestAGapIsFilledWithinTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		ann := r.books.Join(code, "ann")
		_, m := r.join(r.room, ann)
		round := r.startRound(newRound())
		sleepUntil(round.StartsAt + 5000)
		deaf := true
		r.redis.withLock(func(*fakeRedis) { r.pool.subscription.drops = func(h game.Event) bool { return deaf } })
		r.redis.claim(round.ID, 1, ann.ID, "somebody")
		r.redis.claim(round.ID, 2, "somebody")
		r.redis.withLock(func(*fakeRedis) { deaf = false })
		r.redis.claim(round.ID, 3, "somebody")
		wantClaimsAfter(t, m, 1, 2*minPause)
		if r.room.state.applied != 4 {
			t.Errorf("claims up to %d are known, want 4", r.room.state.applied)
		}
	})
}

// The tally counts claims whose events were lost.
func TestATallyShowsThatClaimsWereMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		ann := r.books.Join(code, "ann")
		_, m := r.join(r.room, ann)
		round := r.startRound(newRound())
		sleepUntil(round.StartsAt + 5000)
		r.redis.withLock(func(*fakeRedis) { r.pool.subscription.drops = func(h game.Event) bool { return h.Claims != nil } })
		r.redis.claim(round.ID, 1, ann.ID)
		screen := &recordingClient{}
		r.room.Subscribe(wire.RoleScreen, screen)
		for received := tallies(t, screen); len(received) == 0 || received[len(received)-1].ClaimedPackets == 0; received = tallies(t, screen) {
			time.Sleep(time.Millisecond)
		}
		wantClaimsAfter(t, m, 1, 2*minPause)
	})
}

func TestAFailedReadIsRepeatedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		ann := r.books.Join(code, "ann")
		_, m := r.join(r.room, ann)
		round := r.startRound(newRound())
		sleepUntil(round.StartsAt + 5000)
		r.redis.withLock(func(redis *fakeRedis) { r.pool.subscription.drops = func(game.Event) bool { return true } })
		r.redis.claim(round.ID, 1, ann.ID)
		failed := 0
		r.redis.withLock(func(redis *fakeRedis) {
			redis.fails = func(what string) error {
				if what == "claims" && failed == 0 {
					failed++
					return game.ErrUnknown
				}
				return nil
			}
		})
		r.rooms.HandleEvent(game.Event{Room: code, Missed: true})
		wantClaimsAfter(t, m, 1, activeInterval+3*minPause)
	})
}

// The subscription lost its connection, and is connected again.
func TestAReconnectionReadsAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		ann := r.books.Join(code, "ann")
		_, m := r.join(r.room, ann)
		round := r.startRound(newRound())
		sleepUntil(round.StartsAt + 5000)
		r.redis.withLock(func(*fakeRedis) { r.pool.subscription.rooms[code] = false })
		r.redis.claim(round.ID, 1, ann.ID)
		r.redis.closeRound(round.ID, game.Stopped)
		r.redis.withLock(func(*fakeRedis) { r.pool.subscription.rooms[code] = true })
		r.rooms.HandleEvent(game.Event{Room: code, Missed: true})
		wantClaimsAfter(t, m, 1, 100*time.Millisecond)
		seen := roundChanges(t, m)
		if last := seen[len(seen)-1].Round; last.Phase != game.Closed {
			t.Errorf("the phase is %s", last.Phase)
		}
	})
}

// Events arrive faster than they are handled, and the inbox is full.
func TestWhatDoesNotFitInTheInboxIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		ann := r.books.Join(code, "ann")
		_, m := r.join(r.room, ann)
		round := r.startRound(newRound(func(s *game.Settings) { s.Packets, s.Total, s.Cap = 10_000, 1_000_000, 100 }))
		sleepUntil(round.StartsAt + 5000)
		synctest.Wait()
		busy, release := make(chan struct{}), make(chan struct{})
		go func() { _ = r.room.runInBroadcastLoop(t.Context(), func() { close(busy); <-release }) }() // the broadcast loop is held up
		<-busy
		for n := range inboxSize + 500 {
			player := "somebody"
			if n%100 == 0 {
				player = ann.ID
			}
			r.redis.claim(round.ID, game.DropID(n+1), player) //nolint:gosec // small
		}
		close(release)
		wantClaimsAfter(t, m, 46, 2*time.Second)
		if r.room.state.applied != inboxSize+500 {
			t.Errorf("claims up to %d are known", r.room.state.applied)
		}
	})
}

// While nothing can be read, the room tries again and again, and sends nothing wrong.
func TestCatchingUpIsTriedUntilItWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		ann := r.books.Join(code, "ann")
		_, m := r.join(r.room, ann)
		round := r.startRound(newRound())
		sleepUntil(round.StartsAt + 5000)
		r.redis.withLock(func(redis *fakeRedis) {
			redis.fails = func(string) error { return fmt.Errorf("redis: %w", game.ErrUnknown) }
			r.pool.subscription.drops = func(game.Event) bool { return true }
		})
		r.redis.claim(round.ID, 1, ann.ID)
		time.Sleep(10 * time.Second)
		r.redis.withLock(func(redis *fakeRedis) { redis.fails, r.pool.subscription.drops = nil, nil })
		wantClaimsAfter(t, m, 1, 2*time.Second)
	})
}

// The event of a new round was lost. The room finds the round when it reads again.
func TestARoundWhoseEventWasLostIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		_, m := r.join(r.room, r.books.Join(code, "ann"))
		r.redis.withLock(func(*fakeRedis) { r.pool.subscription.drops = func(game.Event) bool { return true } })
		time.Sleep(777 * time.Millisecond)
		r.startRound(newRound())
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(roundChanges(t, m)) != 1 {
			t.Errorf("two seconds later: %v", roundChanges(t, m))
		}
	})
}

// The keys of an old round are gone. There is nothing to catch up with, and taps are submitted to the script.
func TestAnOldRoundWithoutKeysIsNotReadForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		redis := newFakeRedis()
		i := newInstance(t, redis, testkit.NewBooks(code), "one")
		round := newRound()
		round.Phase, round.Reason, round.StartsAt, round.EndsAt = game.Closed, game.ByTime, 1, 30_001
		i.books.Keep(round)
		session, tab := i.join(i.acquireRoom(), i.books.Join(code, "ann"))
		time.Sleep(10 * time.Second)
		if n := i.logLines.Load(); n != 0 {
			t.Errorf("the log has %d logLines", n)
		}
		if _, status := session.Tap(round.ID, 1, tab, &answerRecorder{}); status != Submitted {
			t.Errorf("status %v", status)
		}
	})
}

func TestSoldOutIsReportedUntilTheRoundIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		r.closes = false // the database is down
		round := r.startRound(newRound())
		sleepUntil(round.StartsAt + 5000)
		r.redis.claim(round.ID, 1, "1", "2", "3", "4", "5", "6", "7", "8", "9")
		time.Sleep(2 * time.Second)
		if n := len(r.soldOut); n != 0 {
			t.Errorf("reported %d times with a packet left", n)
		}
		gone := time.Now()
		r.redis.claim(round.ID, 1, "10")
		time.Sleep(3 * time.Second)
		r.redis.withLock(func(*fakeRedis) { r.closes = true })
		time.Sleep(3 * time.Second)
		r.redis.withLock(func(*fakeRedis) {
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
		r := newFixture(t)
		round := r.startRound(newRound(func(s *game.Settings) { s.CloseWhenSoldOut = false }))
		sleepUntil(round.StartsAt + 5000)
		r.redis.claim(round.ID, 1, "1", "2", "3", "4", "5", "6", "7", "8", "9", "10")
		sleepUntil(round.EndsAt + 5000)
		if n := len(r.soldOut); n != 0 {
			t.Errorf("reported %d times", n)
		}
	})
}

// The instance whose batch took the last packet knows that from the reply, before the events with the claims arrive.
func TestSoldOutIsKnownFromTheReplyToABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		round := r.startRound(newRound())
		sleepUntil(round.StartsAt + 5000)
		r.redis.withLock(func(*fakeRedis) { r.pool.subscription.drops = func(h game.Event) bool { return h.Claims != nil } })
		r.redis.claim(round.ID, 1, "1", "2", "3", "4", "5", "6", "7", "8", "9", "10")
		r.rooms.RecordBatch(code, "another-round", game.Grabbed{})
		synctest.Wait()
		if n := len(r.soldOut); n != 0 {
			t.Fatalf("reported %d times by another round's batch", n)
		}
		r.rooms.RecordBatch(code, round.ID, game.Grabbed{})
		time.Sleep(minPause)
		synctest.Wait()
		r.redis.withLock(func(*fakeRedis) {
			if n := len(r.soldOut); n != 1 {
				t.Errorf("reported %d times", n)
			}
		})
	})
}
