package ledger_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

// Players who chose names that look alike are told apart, whichever way they came, and whatever instances they joined at, at once.
func TestLookAlikesInOneRoomAreToldApart(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		instances := []*ledger.Ledger{open(), open()}
		l := instances[0]
		room, other := newRoom(t, l), newRoom(t, l)
		names := []string{"admin", "Admin", "аdmin", "adm1n", "ａｄｍｉｎ", "admin #2"}
		var joining sync.WaitGroup
		players := make([]game.Player, 4*len(names))
		for i := range players {
			joining.Go(func() {
				var err error
				if players[i], err = instances[i%2].AddPlayer(t.Context(), room, names[i%len(names)]); err != nil {
					t.Error(err)
				}
			})
		}
		joining.Wait()
		subject := must[game.Player](t)(l.AddSubject(t.Context(), room, "staff-1", "admin"))
		if again := must[game.Player](t)(instances[1].AddSubject(t.Context(), room, "staff-1", "admin")); again.ID != subject.ID {
			t.Error("one subject is two players")
		}
		ann := must[game.Player](t)(l.AddPlayer(t.Context(), room, "ann"))
		renamed := must[game.Player](t)(l.RenamePlayer(t.Context(), room, ann.ID, "admin"))
		seen := make(map[string]string)
		for _, player := range slices.Concat(players, []game.Player{subject, renamed}) {
			stored := must[game.Player](t)(instances[1].Player(t.Context(), player.ID))
			key := game.NameSkeleton(stored.Nickname)
			if seen[key] != "" || stored.Nickname != player.Nickname {
				t.Errorf("%q and %q are in one room; the player was told %q", stored.Nickname, seen[key], player.Nickname)
			}
			seen[key] = stored.Nickname
		}
		if elsewhere := must[game.Player](t)(l.AddPlayer(t.Context(), other, "admin")); elsewhere.Nickname != "admin" {
			t.Errorf("in another room the first is %q", elsewhere.Nickname)
		}
	})
}

// Renaming to what looks like one's own name changes no number, and a name that was given up is free again.
func TestOwnNameIsNoLookAlike(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		room := newRoom(t, l)
		ann := must[game.Player](t)(l.AddPlayer(t.Context(), room, "ann"))
		for _, name := range []string{"Ann", "ANN", "ann", "bob"} {
			if got := must[game.Player](t)(l.RenamePlayer(t.Context(), room, ann.ID, name)); got.Nickname != name {
				t.Errorf("renamed to %q, want %q", got.Nickname, name)
			}
		}
		for n, want := range []string{"ann", "ann #2", "ann #3", "ann #4"} {
			if got := must[game.Player](t)(l.AddPlayer(t.Context(), room, "ann")); got.Nickname != want {
				t.Errorf("number %d is %q, want %q", n+1, got.Nickname, want)
			}
		}
	})
}

// However many choose one name, each finds a free one after a few tries.
func TestManyMayChooseOneName(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		room := newRoom(t, l)
		seen := make(map[string]bool)
		for range 300 {
			seen[must[game.Player](t)(l.AddPlayer(t.Context(), room, "test")).Nickname] = true
		}
		if len(seen) != 300 {
			t.Error(fmt.Sprint(len(seen), " names for 300 players"))
		}
	})
}
