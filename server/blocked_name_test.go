package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"redrain/internal/bots"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// A player wins, the round ends, and the host blocks the player. From then on no page has the name: not a wall that stands at the other
// instance, not one that opens later, not the ended round's board. The books and the host's claims keep it, and unblocking brings it back.
func TestABlockedPlayersNameIsLeftToTheHost(t *testing.T) {
	t.Parallel()
	redis := testkit.Redis(t)
	a, b := startTwo(t, redis.URL)
	host, api := loginHost(t, a), newHostAPI(t, a)
	room := newRoom(t, host)
	players := joinPlayers(t, room, 1, b)
	wall := testkit.Connect(t, testkit.Visit{URL: b.url, Room: room, Role: wire.RoleScreen})
	round := newRound(t, host, room, map[string]any{"total_cents": 1000, "packets": 1, "countdown_ms": 0, "bomb_percent": 0})
	startRound(t, host, round.ID)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tapAll(ctx, t, round.ID, players)
	awaitClosed(t, host, round.ID, soon)
	testkit.Expect(wall, func(tally wire.Tally) bool { return winnerOf(tally) == "玩家0" })

	for _, step := range []struct{ name, want string }{{"block", ""}, {"unblock", "玩家0"}} {
		api.call("POST", "/api/rooms/"+room+"/players/"+players[0].ID+"/"+step.name, nothing, 200, nil)
		heard := len(testkit.All[wire.Tally](wall))
		testkit.Eventually(t, soon, func() error {
			for _, tally := range testkit.All[wire.Tally](wall)[heard:] {
				if winnerOf(tally) == step.want {
					return nil
				}
			}
			return errors.New("the wall has not heard it")
		})
		for _, in := range []*instance{a, b} {
			wantNameOnLaterPages(t, in, room, round.ID, step.want)
		}
		claims, err := host.Claims(t.Context(), round.ID)
		if err != nil || len(claims) != 1 || claims[0].Nickname != "玩家0" || claims[0].Cents != 1000 {
			t.Errorf("%s: the host reads %+v, %v", step.name, claims, err)
		}
	}
}

// winnerOf is the nickname of the best on the board, and "?" if that is not the one of the latest winner.
func winnerOf(tally wire.Tally) string {
	if len(tally.Top) != 1 || len(tally.Winners) != 1 || tally.Top[0].Nickname != tally.Winners[0].Nickname {
		return "?"
	}
	return tally.Top[0].Nickname
}

// wantNameOnLaterPages looks at the board of a round that is over, as pages find it that open now.
func wantNameOnLaterPages(t *testing.T, in *instance, room, round, name string) {
	t.Helper()
	anybody := bots.NewHost(in.url)
	var board struct {
		Tally wire.Tally `json:"tally"`
	}
	if err := anybody.Call(t.Context(), "GET", "/api/rounds/"+round, nil, &board); err != nil || winnerOf(board.Tally) != name {
		t.Errorf("the round's board shows %q, want %q: %v", winnerOf(board.Tally), name, err)
	}
	late := testkit.Connect(t, testkit.Visit{URL: in.url, Room: room, Role: wire.RoleScreen})
	testkit.Expect(late, func(tally wire.Tally) bool { return winnerOf(tally) == name })
	for _, tally := range testkit.All[wire.Tally](late) {
		if got := winnerOf(tally); got != name && got != "?" {
			t.Errorf("a page that opened later was told of %q, want %q", got, name)
		}
	}
}
