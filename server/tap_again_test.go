package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"redrain/internal/game"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// issuePlayerToken brings a new player into a room and returns their token.
func issuePlayerToken(t *testing.T, in *instance, room string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, in.url+"/api/rooms/"+room+"/players", strings.NewReader(`{"nickname":"小明"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Token string `json:"token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Token == "" {
		t.Fatalf("%s: %v", response.Status, err)
	}
	return answer.Token
}

// Elsewhere a tap on a packet that was already open stacked its reward, again and again.
// Elsewhere a winner who tapped after the pool was empty heard "gone".
//
// Here a drop that was won has its first result for ever: on the same line, in another tab on another instance, when everything
// is sold out, when the player has all that one may have, and after the end.
func TestWonDropKeepsItsFirstResult(t *testing.T) {
	t.Parallel()
	a, b := startTwo(t, testkit.Redis(t).URL, "TAPS_PER_SECOND=1000")
	host := loginHost(t, a)
	room := newRoom(t, host)
	token := issuePlayerToken(t, a, room)
	tab := testkit.Connect(t, testkit.Visit{URL: a.url, Room: room, Role: wire.RolePlayer, Token: token})
	other := testkit.Connect(t, testkit.Visit{URL: b.url, Room: room, Role: wire.RolePlayer, Token: token})
	round := newRound(t, host, room, map[string]any{
		"total_cents": 1000, "packets": 2, "cap": 2, "pace": "burst", "countdown_ms": 0, "duration_ms": 30_000,
		"bomb_percent": 0, "close_when_sold_out": false,
	}).ID
	startRound(t, host, round)
	first := winNextDrop(t, tab, round, 0)
	wantSameResult(t, round, first, tab, other)
	second := winNextDrop(t, other, round, first.Drop)
	for _, won := range []wire.Result{first, second} {
		wantSameResult(t, round, won, tab, other) // sold out by now
	}
	if _, err := host.Stop(t.Context(), round); err != nil {
		t.Fatal(err)
	}
	for _, won := range []wire.Result{first, second} {
		wantSameResult(t, round, won, tab, other)
	}
	claims, err := host.Claims(t.Context(), round)
	if err != nil || len(claims) != 2 || claims[0].Cents != first.Cents || claims[1].Cents != second.Cents {
		t.Errorf("told %d and %d cents, the claims are %+v, %v", first.Cents, second.Cents, claims, err)
	}
}

// winNextDrop taps a drop after another one until the tap wins.
func winNextDrop(t *testing.T, tab *testkit.Client, round string, after game.DropID) (won wire.Result) {
	t.Helper()
	drop := after + 1
	testkit.Eventually(t, soon, func() error {
		won = tab.TapAndHear(round, drop)
		if won.Outcome != game.Won { // it does not fall yet
			return errors.New(string(won.Outcome))
		}
		return nil
	})
	return won
}

// wantSameResult taps a won drop twice on each connection.
func wantSameResult(t *testing.T, round string, won wire.Result, tabs ...*testkit.Client) {
	t.Helper()
	for _, tab := range append(tabs, tabs...) {
		if again := tab.TapAndHear(round, won.Drop); again.Outcome != game.Duplicate || again.Cents != won.Cents {
			t.Errorf("drop %d was won with %d cents; again it is %s with %d", won.Drop, won.Cents, again.Outcome, again.Cents)
		}
	}
}
