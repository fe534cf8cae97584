package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// publishNotice publishes a notice to the room.
func (r *fixture) publishNotice(code string) {
	r.redis.withLock(func(redis *fakeRedis) {
		redis.publish(game.Event{Room: r.room.code, Notice: wire.Encode(wire.Notice{Code: code})})
	})
	synctest.Wait()
}

func noticeMessages(t *testing.T, m *recordingClient) []wire.Notice {
	return receivedMessages[wire.Notice](t, m, "notice")
}

func TestARoomThatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		if _, err := r.rooms.Acquire(t.Context(), "SUNNY8"); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("enter: %v", err)
		}
		for _, part := range []error{errors.New("books"), nil} {
			r.books.Fail(part)
			_, err := r.rooms.Acquire(t.Context(), "SUNNY8")
			if part != nil && !errors.Is(err, part) {
				t.Errorf("enter while the books are down: %v", err)
			}
		}
		r.rooms.mu.Lock()
		if len(r.rooms.rooms) != 1 {
			t.Errorf("%d rooms are kept", len(r.rooms.rooms))
		}
		r.rooms.mu.Unlock()
	})
}

func TestAFailureToLoadARoomIsNotRemembered(t *testing.T) {
	for _, part := range []string{"subscribe", "snapshot"} {
		t.Run(part, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				redis, down := newFakeRedis(), errors.New("down")
				i := newInstance(t, redis, testkit.NewBooks(code), "one")
				round := newRound()
				i.books.Keep(round)
				redis.openRound(round)
				redis.withLock(func(redis *fakeRedis) {
					redis.fails = func(what string) error {
						if what == part {
							return down
						}
						return nil
					}
				})
				if _, err := i.rooms.Acquire(t.Context(), code); !errors.Is(err, down) {
					t.Errorf("enter: %v", err)
				}
				redis.withLock(func(redis *fakeRedis) { redis.fails = nil })
				i.acquireRoom()
			})
		})
	}
}

// A room stays open for half a minute after its last user, so that a reload finds it as it was. Then it is unsubscribed and its loops end.
func TestARoomIsClosedHalfAMinuteAfterItsLastRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		second := r.acquireRoom()
		if second != r.room {
			t.Fatal("two rooms with one code")
		}
		r.rooms.Release(r.room)
		time.Sleep(5 * time.Minute)
		if r.rooms.find(code) != r.room {
			t.Fatal("closed while somebody is in it")
		}
		r.rooms.Release(second)
		time.Sleep(29 * time.Second)
		if again := r.acquireRoom(); again != r.room {
			t.Fatal("a reload does not come back to the same room")
		}
		r.rooms.Release(r.room)
		time.Sleep(30 * time.Second)
		if r.rooms.find(code) != r.room {
			t.Error("closed before its time")
		}
		time.Sleep(11 * time.Second)
		if r.rooms.find(code) != nil || r.redis.callCount("unsubscribe") != 1 {
			t.Error("not closed")
		}
		r.room.loops.Wait() // or the bubble deadlocks
		if again := r.acquireRoom(); again == r.room {
			t.Error("a room that has ended was entered")
		}
	})
}

// An Acquire while the room is being closed waits for that, so that the unsubscription cannot arrive after the new subscription.
func TestAcquireWaitsWhileTheRoomIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		leaving, release := make(chan struct{}), make(chan struct{})
		r.redis.withLock(func(redis *fakeRedis) {
			redis.before = func(what string) {
				if what == "unsubscribe" {
					close(leaving)
					<-release
				}
			}
		})
		r.rooms.Release(r.room)
		<-leaving
		entered := make(chan *Room)
		go func() {
			room, err := r.rooms.Acquire(context.Background(), code)
			if err != nil {
				t.Error(err)
			}
			entered <- room
		}()
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.rooms.Acquire(impatient, code); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("enter: %v", err)
		}
		close(release)
		r.room = <-entered
		m := &recordingClient{}
		r.room.Subscribe(wire.RoleScreen, m)
		r.publishNotice("hello")
		if len(noticeMessages(t, m)) != 1 {
			t.Error("the client got no notice")
		}
	})
}

// Rooms are acquired and released around the moment at which idle rooms are closed. Every client receives events.
func TestAcquireAndReleaseNeverLoseTheSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		r.rooms.Release(r.room)
		for step := range 60 {
			time.Sleep(roomIdleTimeout - time.Second + time.Duration(step)*200*time.Millisecond)
			var people sync.WaitGroup
			for range 8 {
				people.Go(func() {
					room, err := r.rooms.Acquire(context.Background(), code)
					if err != nil {
						t.Error(err)
						return
					}
					m := &recordingClient{}
					room.Subscribe(wire.RoleScreen, m)
					r.redis.withLock(func(redis *fakeRedis) {
						redis.publish(game.Event{Room: code, Notice: wire.Encode(wire.Notice{Code: "x"})})
					})
					time.Sleep(time.Second)
					if len(noticeMessages(t, m)) < 1 {
						t.Errorf("step %d: no notice", step)
					}
					room.Unsubscribe(m)
					r.rooms.Release(room)
				})
			}
			people.Wait()
		}
		r.rooms.mu.Lock()
		defer r.rooms.mu.Unlock()
		if e := r.rooms.rooms[code]; e != nil && e.users != 0 {
			t.Errorf("%d users after everybody left", e.users)
		}
	})
}

func TestACancelledAcquireIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		redis := newFakeRedis()
		i := newInstance(t, redis, testkit.NewBooks(code), "one")
		release := make(chan struct{})
		redis.withLock(func(redis *fakeRedis) {
			redis.before = func(what string) {
				if what == "subscribe" {
					<-release
				}
			}
		})
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := i.rooms.Acquire(impatient, code); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("enter: %v", err)
		}
		close(release)
		synctest.Wait()
		time.Sleep(time.Minute)
		if i.rooms.find(code) != nil {
			t.Error("a room that nobody entered stays")
		}
	})
}

// When one instance closes its rooms, another one can take the lease at once.
func TestCloseReleasesTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		synctest.Wait()
		other := newInstance(t, r.redis, r.books, "two")
		other.acquireRoom()
		time.Sleep(3 * time.Second)
		closing := time.Now()
		r.rooms.Close()
		time.Sleep(2 * time.Second)
		all := r.redis.publishedTallies()
		last := all[len(all)-1]
		var first time.Time
		for _, tally := range r.redis.publishedTallies() {
			if tally.by == "two" && first.IsZero() {
				first = tally.at
			}
		}
		if last.by != "two" || first.Before(closing) || first.Sub(closing) > 600*time.Millisecond {
			t.Errorf("the other instance publishes %v after the close", first.Sub(closing))
		}
		r.rooms.Close() // twice is fine
	})
}

// The lock of the rooms was held while leases were released, and HandleEvent waited for it.
func TestHandleEventDoesNotWaitForClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		synctest.Wait()
		reached, release := make(chan struct{}), make(chan struct{})
		r.redis.withLock(func(redis *fakeRedis) {
			redis.before = func(what string) {
				if what == "report" {
					redis.withLock(func(redis *fakeRedis) { redis.before = nil })
					close(reached)
					<-release
				}
			}
		})
		closed := make(chan struct{})
		go func() { r.rooms.Close(); close(closed) }()
		<-reached
		returned := make(chan struct{})
		go func() {
			r.rooms.HandleEvent(game.Event{Room: code, Notice: wire.Encode(wire.Notice{Code: "x"})})
			close(returned)
		}()
		time.Sleep(10 * time.Second) // with the mutex held the bubble could not even move its clock
		select {
		case <-returned:
		default:
			t.Error("HandleEvent waits")
		}
		close(release)
		<-closed
	})
}

// Idle rooms were closed one after the other, each waiting for Redis, and an Acquire of one of them waited for all before it. Now several are
// closed at once, and the others can be acquired until it is their turn.
func TestAStalledRedisDoesNotDelayAcquire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count = 3 * maxClosing
		codes := make([]string, count)
		for n := range codes {
			codes[n] = fmt.Sprintf("ROOM%d", n)
		}
		redis := newFakeRedis()
		i := newInstance(t, redis, testkit.NewBooks(codes...), "one")
		for _, code := range codes {
			room, err := i.rooms.Acquire(t.Context(), code)
			if err != nil {
				t.Fatal(err)
			}
			i.rooms.Release(room)
		}
		redis.withLock(func(redis *fakeRedis) { redis.hangs = func(string) bool { return true } })
		time.Sleep(roomIdleTimeout - time.Second)
		waiting := func() (codes []string) { // rooms that are not being closed yet
			i.rooms.mu.Lock()
			defer i.rooms.mu.Unlock()
			for code, e := range i.rooms.rooms {
				if !e.closing {
					codes = append(codes, code)
				}
			}
			return codes
		}
		for len(waiting()) == count {
			time.Sleep(10 * time.Millisecond)
		}
		synctest.Wait()
		left := waiting()
		if n := count - len(left); n != maxClosing {
			t.Errorf("%d rooms end at once, want %d", n, maxClosing)
		}
		impatient, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		for _, code := range left {
			if _, err := i.rooms.Acquire(impatient, code); err != nil {
				t.Errorf("enter %s: %v", code, err)
			}
		}
		redis.withLock(func(redis *fakeRedis) { redis.hangs = nil })
	})
}
