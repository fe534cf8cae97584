package live

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"redrain/internal/game"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// lastArrivals returns the nicknames of the arrivals that a client was sent last.
func lastArrivals(t *testing.T, m *recordingClient) []string {
	t.Helper()
	synctest.Wait()
	last := welcomes(t, m)[0].Tally
	if received := tallies(t, m); len(received) > 0 {
		last = received[len(received)-1]
	}
	names := []string{}
	for _, arrival := range last.Arrivals {
		names = append(names, arrival.Nickname)
	}
	return names
}

func wantArrivals(t *testing.T, when string, m *recordingClient, want ...string) {
	t.Helper()
	if got := lastArrivals(t, m); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v are shown, want %v", when, got, want)
	}
}

// Everybody sees who else is in the room, the newest first, on whichever instance they are. A player who leaves is not shown any more, one
// who reloads keeps their place, and a client that connects later gets the list with welcome.
func TestArrivalsOfAllInstancesAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		there := newInstance(t, r.redis, r.books, "two")
		room := there.acquireRoom()
		screen := &recordingClient{}
		room.Subscribe(wire.RoleScreen, screen)
		wantArrivals(t, "nobody is here", screen)
		ann, bob, cid := r.books.Join(code, "ann"), r.books.Join(code, "bob"), r.books.Join(code, "cid")
		session, tab := r.join(r.room, ann)
		time.Sleep(time.Second)
		wantArrivals(t, "ann is here", screen, "ann")
		bobs, other := there.join(room, bob)
		time.Sleep(time.Millisecond)
		r.join(r.room, cid)
		time.Sleep(time.Millisecond)
		there.join(room, ann) // a second tab
		time.Sleep(2 * time.Second)
		wantArrivals(t, "three are here", screen, "cid", "bob", "ann")
		wantArrivals(t, "players are sent them too", tab, "cid", "bob", "ann")
		room.Leave(bobs, other)
		time.Sleep(time.Second)
		wantArrivals(t, "bob left", screen, "cid", "ann")
		there.join(room, bob)
		r.room.Leave(session, tab)
		time.Sleep(time.Second)
		wantArrivals(t, "bob is back, ann has a tab left", screen, "ann", "cid", "bob")
		late := &recordingClient{}
		r.room.Subscribe(wire.RoleScreen, late)
		wantArrivals(t, "who comes late", late, "ann", "cid", "bob")
	})
}

func TestOnlyTheNewestArrivalsAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		screen := &recordingClient{}
		r.room.Subscribe(wire.RoleScreen, screen)
		var want []string
		for n := range 300 {
			r.join(r.room, r.books.Join(code, fmt.Sprint("guest", n)))
			time.Sleep(time.Millisecond)
		}
		for n := range maxArrivals {
			want = append(want, fmt.Sprint("guest", 299-n))
		}
		time.Sleep(time.Second)
		wantArrivals(t, "three hundred came", screen, want...)
	})
}

// From the countdown to the end pages show other things, so arrivals would be sent for nothing.
func TestNoArrivalsAreReportedDuringARound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		r.join(r.room, r.books.Join(code, "ann"))
		screen := &recordingClient{}
		r.room.Subscribe(wire.RoleScreen, screen)
		time.Sleep(time.Second)
		wantArrivals(t, "before", screen, "ann")
		round := r.startRound(newRound())
		for _, at := range []game.Moment{round.StartsAt - 1000, round.StartsAt + 5000} {
			sleepUntil(at)
			r.redis.withLock(func(redis *fakeRedis) {
				for by, report := range redis.reports {
					if len(report.Arrivals) > 0 {
						t.Errorf("%s reports %v", by, report.Arrivals)
					}
				}
			})
			wantArrivals(t, "meanwhile", screen)
		}
		r.redis.closeRound(round.ID, game.Stopped)
		time.Sleep(time.Second)
		wantArrivals(t, "afterwards", screen, "ann")
	})
}

// A nickname that the host removed from the wall must not come back: a blocked player is not shown any more, even while their connection
// is still being closed.
func TestABlockedPlayerIsNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := &blocklist{}
		r := newFixture(t, func(o *Options) { o.Blocked = list.read })
		ann, bob := r.books.Join(code, "ann"), r.books.Join(code, "bob")
		r.join(r.room, ann)
		time.Sleep(time.Millisecond)
		_, tab := r.join(r.room, bob)
		time.Sleep(2 * time.Second)
		wantArrivals(t, "before", tab, "bob", "ann")
		list.set(nil, ann.ID)
		r.rooms.HandleEvent(game.Event{Room: code})
		time.Sleep(2 * time.Second)
		wantArrivals(t, "ann is blocked", tab, "bob")
	})
}

// renamableBooks are books in which a player can be renamed.
type renamableBooks struct {
	*testkit.Books
	mu      sync.Mutex
	renamed map[string]string
}

func (b *renamableBooks) rename(player, nickname string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.renamed = map[string]string{player: nickname}
}

func (b *renamableBooks) Nicknames(ctx context.Context, players []string) (map[string]string, error) {
	found, err := b.Books.Nicknames(ctx, players)
	b.mu.Lock()
	defer b.mu.Unlock()
	for player, nickname := range b.renamed {
		if _, queried := found[player]; queried {
			found[player] = nickname
		}
	}
	return found, err //nolint:wrapcheck // the test's own
}

// A host renames a player whose nickname is not fit for a wall. It is gone within a second if the event of the change arrives, and when
// nicknames are read again if it is lost.
func TestARenamedPlayerIsShownByTheirNewName(t *testing.T) {
	for name, eventArrives := range map[string]bool{"event arrives": true, "event is lost": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				books := &renamableBooks{Books: testkit.NewBooks(code)}
				r := newFixture(t, func(o *Options) { o.Books = books })
				ann := books.Join(code, "rude")
				r.join(r.room, ann)
				screen := &recordingClient{}
				r.room.Subscribe(wire.RoleScreen, screen)
				time.Sleep(2 * time.Second)
				wantArrivals(t, "before", screen, "rude")
				books.rename(ann.ID, "ann")
				wait := nicknameLifetime + 2*time.Second
				if eventArrives {
					r.rooms.HandleEvent(game.Event{Room: code, ForHosts: "players_changed"})
					wait = time.Second
				}
				time.Sleep(wait)
				wantArrivals(t, "afterwards", screen, "ann")
			})
		})
	}
}

// However arrivals are spread over instances, and in whatever order they are read, the same ones are shown.
func TestTheNewestArrivalsDoNotDependOnTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) game.Arrival {
			return game.Arrival{Player: fmt.Sprint("p", rapid.IntRange(0, 30).Draw(t, "player")), At: game.Moment(rapid.IntRange(1, 20).Draw(t, "at"))}
		}), 0, 60).Draw(t, "arrivals")
		got := mergeArrivals(all)
		if again := mergeArrivals(rapid.Permutation(all).Draw(t, "otherwise")); fmt.Sprint(got) != fmt.Sprint(again) {
			t.Fatalf("%v, and in another order %v", got, again)
		}
		first := make(map[string]game.Moment)
		for _, a := range all {
			if at, known := first[a.Player]; !known || a.At < at {
				first[a.Player] = a.At
			}
		}
		if len(got) != min(len(first), maxArrivals) {
			t.Fatalf("%d of %d players", len(got), len(first))
		}
		for i, a := range got {
			if a.At != first[a.Player] || (i > 0 && compareNewestFirst(got[i-1], a) >= 0) {
				t.Fatalf("%v at place %d of %v", a, i, got)
			}
			delete(first, a.Player)
		}
		for player, at := range first {
			if compareNewestFirst(game.Arrival{Player: player, At: at}, got[len(got)-1]) < 0 {
				t.Fatalf("%s, since %d, is missing in %v", player, at, got)
			}
		}
	})
}

// With real Redis between two instances, both show the same arrivals in the same order.
func TestArrivalsAreTheSameOnTwoInstances(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, address string) {
		books := testkit.NewBooks(code)
		one, two := newRedisInstance(t, address, books), newRedisInstance(t, address, books)
		screens := []*recordingClient{one.addScreen(), two.addScreen()}
		want := []wire.Arrival{}
		for n, at := range []*redisInstance{one, two, two, one} {
			player := books.Join(code, fmt.Sprint("guest ", n))
			if _, err := at.room.Join(t.Context(), player.ID, player.Nickname, &recordingClient{}); err != nil {
				t.Fatal(err)
			}
			want = append([]wire.Arrival{{Player: player.ID, Nickname: player.Nickname}}, want...)
			for i, screen := range screens {
				testkit.Eventually(t, 10*time.Second, func() error {
					received := tallies(t, screen)
					if len(received) == 0 || !slices.Equal(received[len(received)-1].Arrivals, want) {
						return fmt.Errorf("screen %d does not show %v after %d tallies", i, want, len(received))
					}
					return nil
				})
			}
		}
	})
}
