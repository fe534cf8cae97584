package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/ledger"
	"redrain/internal/testkit"
)

// guestServer is a server with rooms and players in a real database, and one room.
type guestServer struct {
	*testServer
	books *ledger.Ledger
	room  string
}

// forEachDatabase runs a test with every kind of database.
func forEachDatabase(t *testing.T, test func(r *guestServer)) {
	for name, newDatabase := range map[string]func(testing.TB) string{
		"sqlite":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "ledger.db") },
		"postgres": testkit.SharedPostgres,
		"mariadb":  testkit.SharedMariaDB,
	} {
		t.Run(name, func(t *testing.T) { test(newGuestServer(t, newDatabase(t))) })
	}
}

func newGuestServer(t *testing.T, url string) *guestServer {
	t.Helper()
	g := new(guestServer)
	g.testServer = newTestServer(t, func(options *Options) {
		books, err := ledger.Open(t.Context(), url, ledger.WithClock(options.Now))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := books.Close(); err != nil {
				t.Error(err)
			}
		})
		if err := books.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		options.Rooms, options.Guests, g.books = books, books, books
	})
	room, err := g.books.CreateRoom(t.Context(), "年会")
	if err != nil {
		t.Fatal(err)
	}
	g.room = room.Code
	return g
}

func (g *guestServer) join(nickname string) game.Player {
	g.t.Helper()
	player, err := g.books.AddPlayer(g.t.Context(), g.room, nickname)
	if err != nil {
		g.t.Error(err)
	}
	return player
}

func (g *guestServer) list(query string) guestsAnswer {
	g.t.Helper()
	response := g.call("GET", "/api/rooms/"+g.room+"/players?"+query, "", asHost)
	var list guestsAnswer
	if err := json.Unmarshal(response.Body.Bytes(), &list); err != nil || response.Code != 200 {
		g.t.Fatalf("%s is answered with %d %s (%v)", query, response.Code, response.Body, err)
	}
	return list
}

func guestIDs(guests []guest) []string {
	ids := make([]string, len(guests))
	for i, one := range guests {
		ids[i] = one.ID
	}
	return ids
}

// Many players join in the same millisecond, and more join while the host reads page after page: all who had joined before are
// listed exactly once.
func TestPagesListEveryPlayerOnceWhileOthersJoin(t *testing.T) {
	forEachDatabase(t, func(g *guestServer) {
		there := map[string]bool{}
		for i := range 100 {
			there[g.join(fmt.Sprint("guest ", i)).ID] = true
		}
		var joins sync.WaitGroup
		joins.Go(func() {
			for i := range 60 {
				g.join(fmt.Sprint("latecomer ", i))
			}
		})
		seen := map[string]int{}
		for next := "limit=7"; ; {
			page := g.list(next)
			for _, one := range page.Players {
				seen[one.ID]++
				delete(there, one.ID)
			}
			if page.Next == "" {
				break
			}
			next = "limit=7&before=" + page.Next
		}
		joins.Wait()
		if len(there) > 0 {
			g.t.Errorf("%d of those who were there are missing", len(there))
		}
		for id, times := range seen {
			if times > 1 {
				g.t.Errorf("%s is listed %d times", id, times)
			}
		}
		if list := g.list("limit=1"); list.Total != 160 || len(list.Players) != 1 {
			g.t.Errorf("%d players of %d are listed", len(list.Players), list.Total)
		}
	})
}

// A host's page that only requests new players gets all of them, also those who join at the same time on several instances, and
// its responses stay small.
func TestOnlyNewPlayersAreListedAfterAMark(t *testing.T) {
	forEachDatabase(t, func(g *guestServer) {
		for i := range 120 {
			g.join(fmt.Sprint("guest ", i))
		}
		g.clock.advance(time.Minute)
		g.join("Ann")
		list := g.list("limit=10")
		var joined, told sync.Map
		var joins sync.WaitGroup
		for range 4 {
			joins.Go(func() {
				for range 10 {
					joined.Store(g.join("newcomer").ID, true)
					g.clock.advance(50 * time.Millisecond)
				}
			})
		}
		for done := false; !done; {
			if list.Total == 161 {
				joins.Wait()
				done = true // and once more
			}
			list = g.list("limit=200&after=" + list.Latest)
			if list.Anew || len(list.Players) > 50 {
				g.t.Fatalf("news are %d players, anew: %v", len(list.Players), list.Anew)
			}
			for _, id := range guestIDs(list.Players) {
				told.Store(id, true)
			}
		}
		joined.Range(func(id, _ any) bool {
			if _, ok := told.Load(id); !ok {
				g.t.Errorf("%s joined and was not told", id)
			}
			return true
		})
	})
}

// The list starts anew if somebody was added with a time before the mark, by an instance whose clock is behind, or if there are
// more new players than fit on a page.
func TestListStartsAnewWhenNewPlayersWouldBeMissing(t *testing.T) {
	forEachDatabase(t, func(g *guestServer) {
		for i := range 30 {
			g.join(fmt.Sprint("guest ", i))
			g.clock.advance(time.Second)
		}
		latest := g.list("limit=10").Latest
		g.clock.advance(-10 * time.Second)
		late := g.join("from an instance whose clock is behind")
		list := g.list("limit=50&after=" + latest)
		if !list.Anew || !slices.Contains(guestIDs(list.Players), late.ID) || len(list.Players) != 31 {
			g.t.Errorf("got %d players, anew: %v", len(list.Players), list.Anew)
		}
		g.clock.advance(10 * time.Second)
		for range 5 {
			g.join("at once")
		}
		if list := g.list("limit=4&after=" + list.Latest); !list.Anew || len(list.Players) != 4 || list.Next == "" || list.Total != 36 {
			g.t.Errorf("of more than fit came %+v", list)
		}
	})
}

// A search also applies to new players, and its next page continues after the last player found.
func TestPlayersAreSearchedByName(t *testing.T) {
	forEachDatabase(t, func(g *guestServer) {
		want := map[string]bool{}
		for i := range 40 {
			if player := g.join([]string{"Ann", "Bob", "小明"}[i%3]); i%3 == 1 {
				want[player.ID] = true
			}
			g.clock.advance(time.Second)
		}
		found := map[string]bool{}
		query := "limit=5&name=BOB"
		list := g.list(query)
		latest := list.Latest
		for ; ; list = g.list(query + "&before=" + list.Next) {
			for _, id := range guestIDs(list.Players) {
				found[id] = true
			}
			if list.Next == "" {
				break
			}
		}
		if !maps.Equal(found, want) || list.Total != 40 {
			g.t.Errorf("found %d of %d among %d", len(found), len(want), list.Total)
		}
		g.join("Ann")
		bobby := g.join("bobby")
		if news := g.list(query + "&after=" + latest); len(news.Players) == 0 || news.Players[0].ID != bobby.ID || news.Anew {
			g.t.Errorf("news are %+v", news)
		}
	})
}
