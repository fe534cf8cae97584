package live

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// guest is a member that can be sent away.
type guest struct {
	member
	once sync.Once
	gone chan struct{}
}

func newGuest() *guest { return &guest{gone: make(chan struct{})} }

func (g *guest) Expel() { g.once.Do(func() { close(g.gone) }) }

func (g *guest) expelled() bool {
	select {
	case <-g.gone:
		return true
	default:
		return false
	}
}

// blocklist is who is blocked, as SQL has it.
type blocklist struct {
	mu  sync.Mutex
	ids []string
	err error
}

func (b *blocklist) set(err error, ids ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ids, b.err = ids, err
}

func (b *blocklist) read(context.Context, string) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ids, b.err
}

// A blocked player's tabs end and their taps are refused, at once where it is heard, within two seconds where it is not;
// others play on, and who is let in again does too.
func TestABlockedPlayerIsSentAway(t *testing.T) {
	for name, heard := range map[string]bool{"heard": true, "not heard": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				list := &blocklist{}
				r := newRig(t, func(o *Options) { o.Blocked = list.read })
				round := r.begin(plan())
				ann, bob := r.books.Join(code, "ann"), r.books.Join(code, "bob")
				tabs := []*guest{newGuest(), newGuest()}
				var seat *Seat
				for _, tab := range tabs {
					var err error
					if seat, err = r.room.Sit(t.Context(), ann.ID, "ann", tab); err != nil {
						t.Fatal(err)
					}
				}
				other := newGuest()
				bobs, err := r.room.Sit(t.Context(), bob.ID, "bob", other)
				if err != nil {
					t.Fatal(err)
				}
				until(round.StartsAt + 5000)
				list.set(nil, ann.ID)
				wait := 2 * time.Second
				if heard {
					r.rooms.Hear(game.Event{Room: code})
					wait = 2 * leastPause
				}
				time.Sleep(wait)
				if !tabs[0].expelled() || !tabs[1].expelled() || other.expelled() {
					t.Errorf("expelled: %v and %v, and another player %v", tabs[0].expelled(), tabs[1].expelled(), other.expelled())
				}
				for _, id := range []string{round.ID, "another-round"} {
					if answer, verdict := seat.Tap(id, 1, tabs[0], &answers{}); verdict != Told || answer.Outcome != game.Throttled {
						t.Errorf("a blocked player's tap: %v, verdict %d", answer, verdict)
					}
				}
				if _, verdict := bobs.Tap(round.ID, 1, other, &answers{}); verdict != Asked {
					t.Errorf("another player's tap: verdict %d", verdict)
				}
				list.set(game.ErrBusy) // nobody is let in because the database is down
				time.Sleep(3 * time.Second)
				if _, verdict := seat.Tap(round.ID, 1, tabs[0], &answers{}); verdict != Told {
					t.Errorf("while the list cannot be read: verdict %d", verdict)
				}
				list.set(nil)
				time.Sleep(2 * time.Second)
				if _, verdict := seat.Tap(round.ID, 1, tabs[0], &answers{}); verdict != Asked {
					t.Errorf("after they were let in again: verdict %d", verdict)
				}
			})
		})
	}
}

// Five hundred people who join within a beat are one notice, to hosts alone.
func TestHostsHearOfNewsOnceABeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		_, player := r.sit(r.room, r.books.Join(code, "ann"))
		host, screen := &member{}, &member{}
		r.room.Watch(wire.RoleHost, host)
		r.room.Watch(wire.RoleScreen, screen)
		for range 500 {
			r.rooms.Hear(game.Event{Room: code, ForHosts: "players"})
		}
		time.Sleep(hostsEvery * beat)
		synctest.Wait()
		if said := noticesOf(t, host); len(said) != 1 || said[0].Code != "players" {
			t.Errorf("the host hears %v", said)
		}
		for range 20 {
			r.rooms.Hear(game.Event{Room: code, ForHosts: "players"})
			time.Sleep(hostsEvery * beat / 4)
		}
		time.Sleep(hostsEvery * beat)
		if n := len(noticesOf(t, host)); n < 6 || n > 8 {
			t.Errorf("the host hears %d notices of five beats of news", n)
		}
		if n := len(noticesOf(t, player)) + len(noticesOf(t, screen)); n != 0 {
			t.Errorf("others hear %d", n)
		}
	})
}
