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

// say publishes a notice to whoever listens to the room.
func (r *rig) say(code string) {
	r.world.set(func(w *world) {
		w.publish(game.Event{Room: r.room.code, Notice: wire.Encode(wire.Notice{Code: code})})
	})
	synctest.Wait()
}

func noticesOf(t *testing.T, m *member) []wire.Notice { return heardBy[wire.Notice](t, m, "notice") }

func TestARoomThatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		if _, err := r.rooms.Enter(t.Context(), "SUNNY8"); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("enter: %v", err)
		}
		for _, part := range []error{errors.New("books"), nil} {
			r.books.Fail(part)
			_, err := r.rooms.Enter(t.Context(), "SUNNY8")
			if part != nil && !errors.Is(err, part) {
				t.Errorf("enter while the books are down: %v", err)
			}
		}
		r.rooms.mu.Lock()
		if len(r.rooms.open) != 1 {
			t.Errorf("%d rooms are kept", len(r.rooms.open))
		}
		r.rooms.mu.Unlock()
	})
}

// What keeps a room from opening is not remembered.
func TestARoomOpensOnceItsPartsWorkAgain(t *testing.T) {
	for _, part := range []string{"subscribe", "snapshot"} {
		t.Run(part, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, down := newWorld(), errors.New("down")
				i := newInstance(t, w, testkit.NewBooks(code), "one")
				round := plan()
				i.books.Keep(round)
				w.open(round)
				w.set(func(w *world) {
					w.fails = func(what string) error {
						if what == part {
							return down
						}
						return nil
					}
				})
				if _, err := i.rooms.Enter(t.Context(), code); !errors.Is(err, down) {
					t.Errorf("enter: %v", err)
				}
				w.set(func(w *world) { w.fails = nil })
				i.enter()
			})
		})
	}
}

// A room stays for half a minute after its last member, so that a reload comes back to it; then it is unsubscribed and its
// loops end.
func TestARoomIsGivenUpHalfAMinuteAfterItsLastLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		second := r.enter()
		if second != r.room {
			t.Fatal("two rooms with one code")
		}
		r.rooms.Leave(r.room)
		time.Sleep(5 * time.Minute)
		if r.rooms.find(code) != r.room {
			t.Fatal("given up while somebody is in it")
		}
		r.rooms.Leave(second)
		time.Sleep(29 * time.Second)
		if again := r.enter(); again != r.room {
			t.Fatal("a reload does not come back to the same room")
		}
		r.rooms.Leave(r.room)
		time.Sleep(30 * time.Second)
		if r.rooms.find(code) != r.room {
			t.Error("given up before its time")
		}
		time.Sleep(11 * time.Second)
		if r.rooms.find(code) != nil || r.world.asked("unsubscribe") != 1 {
			t.Error("not given up")
		}
		r.room.loops.Wait() // or the bubble deadlocks
		if again := r.enter(); again == r.room {
			t.Error("a room that has ended was entered")
		}
	})
}

// Whoever enters while a room is being given up waits for that: its unsubscription must not overtake their subscription.
func TestEnteringWhileARoomIsGivenUpKeepsTheSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		leaving, let := make(chan struct{}), make(chan struct{})
		r.world.set(func(w *world) {
			w.before = func(what string) {
				if what == "unsubscribe" {
					close(leaving)
					<-let
				}
			}
		})
		r.rooms.Leave(r.room)
		<-leaving
		entered := make(chan *Room)
		go func() {
			room, err := r.rooms.Enter(context.Background(), code)
			if err != nil {
				t.Error(err)
			}
			entered <- room
		}()
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.rooms.Enter(impatient, code); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("enter: %v", err)
		}
		close(let)
		r.room = <-entered
		m := &member{}
		r.room.Watch(wire.RoleScreen, m)
		r.say("hello")
		if len(noticesOf(t, m)) != 1 {
			t.Error("the room hears nothing")
		}
	})
}

// People come and go around the moment at which empty rooms are given up; whoever is in hears everything.
func TestComingAndGoingNeverLosesTheSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.rooms.Leave(r.room)
		for step := range 60 {
			time.Sleep(keepEmpty - time.Second + time.Duration(step)*200*time.Millisecond)
			var people sync.WaitGroup
			for range 8 {
				people.Go(func() {
					room, err := r.rooms.Enter(context.Background(), code)
					if err != nil {
						t.Error(err)
						return
					}
					m := &member{}
					room.Watch(wire.RoleScreen, m)
					r.world.set(func(w *world) {
						w.publish(game.Event{Room: code, Notice: wire.Encode(wire.Notice{Code: "x"})})
					})
					time.Sleep(time.Second)
					if len(noticesOf(t, m)) < 1 {
						t.Errorf("step %d: nothing heard", step)
					}
					room.Unwatch(m)
					r.rooms.Leave(room)
				})
			}
			people.Wait()
		}
		r.rooms.mu.Lock()
		defer r.rooms.mu.Unlock()
		if e := r.rooms.open[code]; e != nil && e.users != 0 {
			t.Errorf("%d users after everybody left", e.users)
		}
	})
}

func TestWhoStopsWaitingForARoomIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		i := newInstance(t, w, testkit.NewBooks(code), "one")
		let := make(chan struct{})
		w.set(func(w *world) {
			w.before = func(what string) {
				if what == "subscribe" {
					<-let
				}
			}
		})
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := i.rooms.Enter(impatient, code); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("enter: %v", err)
		}
		close(let)
		synctest.Wait()
		time.Sleep(time.Minute)
		if i.rooms.find(code) != nil {
			t.Error("a room that nobody entered stays")
		}
	})
}

// Closing the rooms of one instance hands the lease to another at once.
func TestCloseReturnsTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		synctest.Wait()
		other := newInstance(t, r.world, r.books, "two")
		other.enter()
		time.Sleep(3 * time.Second)
		closing := time.Now()
		r.rooms.Close()
		time.Sleep(2 * time.Second)
		all := r.world.tallied()
		last := all[len(all)-1]
		var first time.Time
		for _, tally := range r.world.tallied() {
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

// The rooms' lock was held while leases were given back: whatever was heard from Redis waited for that.
func TestHearDoesNotWaitForClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		synctest.Wait()
		held, let := make(chan struct{}), make(chan struct{})
		r.world.set(func(w *world) {
			w.before = func(what string) {
				if what == "report" {
					w.set(func(w *world) { w.before = nil })
					close(held)
					<-let
				}
			}
		})
		closed := make(chan struct{})
		go func() { r.rooms.Close(); close(closed) }()
		<-held
		heard := make(chan struct{})
		go func() {
			r.rooms.Hear(game.Event{Room: code, Notice: wire.Encode(wire.Notice{Code: "x"})})
			close(heard)
		}()
		time.Sleep(10 * time.Second) // with the mutex held the bubble could not even move its clock
		select {
		case <-heard:
		default:
			t.Error("Hear waits")
		}
		close(let)
		<-closed
	})
}

// Empty rooms ended one after the other, each waiting for Redis, and whoever wanted to enter one of them waited for all before
// it. Here some end at once, and the others can be entered until it is their turn.
func TestAStalledRedisKeepsNobodyFromEnteringAnotherRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count = 3 * endingAtOnce
		codes := make([]string, count)
		for n := range codes {
			codes[n] = fmt.Sprintf("ROOM%d", n)
		}
		w := newWorld()
		i := newInstance(t, w, testkit.NewBooks(codes...), "one")
		for _, code := range codes {
			room, err := i.rooms.Enter(t.Context(), code)
			if err != nil {
				t.Fatal(err)
			}
			i.rooms.Leave(room)
		}
		w.set(func(w *world) { w.hangs = func(string) bool { return true } })
		time.Sleep(keepEmpty - time.Second)
		waiting := func() (codes []string) { // rooms that are not being given up yet
			i.rooms.mu.Lock()
			defer i.rooms.mu.Unlock()
			for code, e := range i.rooms.open {
				if !e.left {
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
		if n := count - len(left); n != endingAtOnce {
			t.Errorf("%d rooms end at once, want %d", n, endingAtOnce)
		}
		impatient, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		for _, code := range left {
			if _, err := i.rooms.Enter(impatient, code); err != nil {
				t.Errorf("enter %s: %v", code, err)
			}
		}
		w.set(func(w *world) { w.hangs = nil })
	})
}
