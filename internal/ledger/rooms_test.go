package ledger_test

import (
	"errors"
	"fmt"
	"testing"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

func TestRooms(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithClock(newTickingClock()))
		first := must[game.Room](t)(l.CreateRoom(t.Context(), "first"))
		second := must[game.Room](t)(l.CreateRoom(t.Context(), "第二"))
		if got := must[game.Room](t)(open().Room(t.Context(), second.Code)); got != second || got.Name != "第二" {
			t.Errorf("made %v, another instance reads %v", second, got)
		}
		if got := must[[]game.RoomSummary](t)(l.RoomSummaries(t.Context(), "", 10)); len(got) != 2 || got[0].Room != second || got[1].Room != first {
			t.Errorf("rooms are not newest first: %v", got)
		}
		if _, err := l.Room(t.Context(), "NOROOM"); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("an unknown room: %v", err)
		}
	})
}

func TestCreateRoomTriesAnotherCodeWhenOneIsTaken(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		codes := []string{"TAKENA", "TAKENA", "TAKENA", "FREEAA"}
		l := open(ledger.WithCodes(func() string {
			code := codes[0]
			codes = codes[min(1, len(codes)-1):]
			return code
		}))
		first := must[game.Room](t)(l.CreateRoom(t.Context(), "first"))
		second := must[game.Room](t)(l.CreateRoom(t.Context(), "second"))
		if first.Code != "TAKENA" || second.Code != "FREEAA" {
			t.Errorf("codes are %s and %s", first.Code, second.Code)
		}
		if got := must[game.Room](t)(l.Room(t.Context(), "TAKENA")); got.Name != "first" {
			t.Errorf("the first room is now %q", got.Name)
		}
		if _, err := l.CreateRoom(t.Context(), "third"); err == nil {
			t.Error("made a room although every code is taken")
		}
	})
}

func TestPlayersNeedARoom(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		if _, err := l.AddPlayer(t.Context(), "NOROOM", "Ann"); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("a player without a room: %v", err)
		}
		if _, err := l.Player(t.Context(), "nobody"); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("an unknown player: %v", err)
		}
	})
}

func TestNicknames(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		room := newRoom(t, l)
		want, ids := map[string]string{}, []string{"nobody", "x' OR '1'='1"}
		for i := range 5 {
			player := must[game.Player](t)(l.AddPlayer(t.Context(), room, fmt.Sprint("player ", i)))
			want[player.ID] = player.Nickname
			ids = append(ids, player.ID)
		}
		for range 1000 { // more than fit into one statement
			ids = append(ids, "nobody")
		}
		ids = append(ids, ids[2])
		got := must[map[string]string](t)(l.Nicknames(t.Context(), ids))
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("nicknames are %v, want %v", got, want)
		}
		for _, blocked := range []bool{true, false} {
			must[game.Player](t)(l.BlockPlayer(t.Context(), room, ids[2], blocked))
			if _, shown := must[map[string]string](t)(l.Nicknames(t.Context(), ids))[ids[2]]; shown == blocked {
				t.Errorf("blocked %t: the nickname is shown: %t", blocked, shown)
			}
			if got := must[map[string]string](t)(l.HostNicknames(t.Context(), ids)); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("blocked %t: hosts see %v, want %v", blocked, got, want)
			}
		}
		if got := must[map[string]string](t)(l.Nicknames(t.Context(), nil)); len(got) != 0 {
			t.Errorf("nobody has nicknames %v", got)
		}
	})
}
