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

// namesTold are the nicknames that a member heard of last.
func namesTold(t *testing.T, m *recordingClient) []string {
	t.Helper()
	synctest.Wait()
	last := welcomes(t, m)[0].Tally
	if heard := tallies(t, m); len(heard) > 0 {
		last = heard[len(heard)-1]
	}
	names := []string{}
	for _, arrival := range last.Arrivals {
		names = append(names, arrival.Nickname)
	}
	return names
}

func wantNames(t *testing.T, when string, m *recordingClient, want ...string) {
	t.Helper()
	if got := namesTold(t, m); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v are told, want %v", when, got, want)
	}
}

// Who waits sees who else is here, the newest first, whichever instance they are on; who leaves is not shown any more, who
// reloads keeps their place, and who comes later is told by the welcome.
func TestEverybodySeesWhoElseIsHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		there := newInstance(t, r.redis, r.books, "two")
		room := there.acquireRoom()
		screen := &recordingClient{}
		room.Subscribe(wire.RoleScreen, screen)
		wantNames(t, "nobody is here", screen)
		ann, bob, cid := r.books.Join(code, "ann"), r.books.Join(code, "bob"), r.books.Join(code, "cid")
		session, tab := r.join(r.room, ann)
		time.Sleep(time.Second)
		wantNames(t, "ann is here", screen, "ann")
		bobs, other := there.join(room, bob)
		time.Sleep(time.Millisecond)
		r.join(r.room, cid)
		time.Sleep(time.Millisecond)
		there.join(room, ann) // a second tab
		time.Sleep(2 * time.Second)
		wantNames(t, "three are here", screen, "cid", "bob", "ann")
		wantNames(t, "players are told too", tab, "cid", "bob", "ann")
		room.Leave(bobs, other)
		time.Sleep(time.Second)
		wantNames(t, "bob left", screen, "cid", "ann")
		there.join(room, bob)
		r.room.Leave(session, tab)
		time.Sleep(time.Second)
		wantNames(t, "bob is back, ann has a tab left", screen, "ann", "cid", "bob")
		late := &recordingClient{}
		r.room.Subscribe(wire.RoleScreen, late)
		wantNames(t, "who comes late", late, "ann", "cid", "bob")
	})
}

// Ten thousand in a room are a dozen names: those who came last.
func TestOnlyTheLatestArrivalsAreTold(t *testing.T) {
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
		wantNames(t, "three hundred came", screen, want...)
	})
}

// From the countdown to the end there is something else to look at, and nothing to pay for.
func TestNobodyIsToldWhoIsHereWhileItRains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		r.join(r.room, r.books.Join(code, "ann"))
		screen := &recordingClient{}
		r.room.Subscribe(wire.RoleScreen, screen)
		time.Sleep(time.Second)
		wantNames(t, "before", screen, "ann")
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
			wantNames(t, "meanwhile", screen)
		}
		r.redis.closeRound(round.ID, game.Stopped)
		time.Sleep(time.Second)
		wantNames(t, "afterwards", screen, "ann")
	})
}

// A name that the host took off the wall must not come back to it: whoever is blocked is gone at once, though their connection
// still ends.
func TestABlockedPlayerIsNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := &blocklist{}
		r := newFixture(t, func(o *Options) { o.Blocked = list.read })
		ann, bob := r.books.Join(code, "ann"), r.books.Join(code, "bob")
		r.join(r.room, ann)
		time.Sleep(time.Millisecond)
		_, tab := r.join(r.room, bob)
		time.Sleep(2 * time.Second)
		wantNames(t, "before", tab, "bob", "ann")
		list.set(nil, ann.ID)
		r.rooms.HandleEvent(game.Event{Room: code})
		time.Sleep(2 * time.Second)
		wantNames(t, "ann is blocked", tab, "bob")
	})
}

// renaming are books in which players can get another nickname.
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
		if _, asked := found[player]; asked {
			found[player] = nickname
		}
	}
	return found, err //nolint:wrapcheck // the test's own
}

// A host renames whoever calls themselves something that should not be on a wall: it is gone within a second where the change
// is heard of, else when names are read again.
func TestARenamedPlayerIsShownByTheirNewName(t *testing.T) {
	for name, heard := range map[string]bool{"heard": true, "not heard": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				books := &renamableBooks{Books: testkit.NewBooks(code)}
				r := newFixture(t, func(o *Options) { o.Books = books })
				ann := books.Join(code, "rude")
				r.join(r.room, ann)
				screen := &recordingClient{}
				r.room.Subscribe(wire.RoleScreen, screen)
				time.Sleep(2 * time.Second)
				wantNames(t, "before", screen, "rude")
				books.rename(ann.ID, "ann")
				wait := nicknameLifetime + 2*time.Second
				if heard {
					r.rooms.HandleEvent(game.Event{Room: code, ForHosts: "players_changed"})
					wait = time.Second
				}
				time.Sleep(wait)
				wantNames(t, "afterwards", screen, "ann")
			})
		})
	}
}

// However arrivals are spread over instances and in whatever order they are read, the dozen that is told is the same.
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

// Two instances, real messages between them: who comes in at one is told at both, in the same order.
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
					heard := tallies(t, screen)
					if len(heard) == 0 || !slices.Equal(heard[len(heard)-1].Arrivals, want) {
						return fmt.Errorf("screen %d does not show %v after %d tallies", i, want, len(heard))
					}
					return nil
				})
			}
		}
	})
}
