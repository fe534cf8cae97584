package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"redrain/internal/bots"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// startWithClock starts an instance within this process, by a clock of its own.
func startWithClock(t *testing.T, redisURL, database string, now func() time.Time) *app {
	t.Helper()
	config := &serveCommand{
		databaseConfig: databaseConfig{DatabaseURL: database}, settleConfig: settleConfig{KeysRetention: time.Hour}, payoutConfig: payoutConfig{PayoutBatch: 1},
		Host: "127.0.0.1", RedisURL: redisURL, HostPassword: password, TapsPerSecond: 100, GrabBatch: 256, GrabSenders: 2, now: now,
	}
	a, err := start(t.Context(), config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return a
}

// joinAs joins, with a session unless it is empty.
func joinAs(t *testing.T, in *app, room, token string) (id, session string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, in.loopback()+"/api/rooms/"+room+"/players", bytes.NewReader([]byte(`{"nickname":"小明"}`)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	var answer struct {
		Player struct {
			ID string `json:"id"`
		} `json:"player"`
		Token string `json:"token"`
	}
	if status := callJSON(t, request, &answer); status != http.StatusCreated {
		t.Fatalf("join: %d", status)
	}
	return answer.Player.ID, answer.Token
}

func callJSON(t *testing.T, request *http.Request, answer any) (status int) {
	t.Helper()
	response, err := (&http.Client{Timeout: soon, Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode
}

// getPlayerStatus asks players/me.
func getPlayerStatus(t *testing.T, in *app, room, token string) (status int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, in.loopback()+"/api/rooms/"+room+"/players/me", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	return callJSON(t, request, &struct{}{})
}

// Once, an instance refused sessions that another one had made whose clock was a second ahead: the player's page asked for a
// nickname, and who gave one became a second player. Now who joins at one instance and plays at the other is one player.
func TestSessionsWorkOnInstancesWithDifferentClocks(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64 // ns
	began := time.Now()
	ahead.Store(int64(30 * time.Second))
	redisURL, database := testkit.Redis(t).URL, "sqlite:"+t.TempDir()+"/books.db"
	early := startWithClock(t, redisURL, database, func() time.Time { return began.Add(time.Duration(ahead.Load())) })
	late := startWithClock(t, redisURL, database, func() time.Time { return began })
	host := loginHostWithPassword(t, late.loopback(), password)
	room := newRoom(t, host)

	id, token := joinAs(t, early, room, "")
	if status := getPlayerStatus(t, late, room, token); status != http.StatusOK {
		t.Errorf("the other instance answers %d", status)
	}
	tab := testkit.Connect(t, testkit.Visit{URL: late.loopback(), Room: room, Role: wire.RolePlayer, Token: token})
	if tab.Welcome.You.Player != id {
		t.Errorf("%s plays as %s", id, tab.Welcome.You.Player)
	}
	round := newRound(t, host, room, map[string]any{"total_cents": 1000, "packets": 5, "pace": "burst", "countdown_ms": 0, "duration_ms": 30_000, "bomb_percent": 0})
	startRound(t, host, round.ID)
	winNextDrop(t, tab, round.ID, 0)
	if again, _ := joinAs(t, late, room, token); again != id {
		t.Errorf("%s joins again as %s", id, again)
	}
	clockEdges(t, &ahead, early, late, room, token)
	wantOnePlayer(t, host, late, room)
}

// clockEdges brings the clocks a minute apart, which is all right, and then further: there nobody is let in, and nobody made a
// newcomer either.
func clockEdges(t *testing.T, ahead *atomic.Int64, early, late *app, room, token string) {
	t.Helper()
	ahead.Store(int64(time.Minute))
	id, edge := joinAs(t, early, room, token)
	if status := getPlayerStatus(t, late, room, edge); status != http.StatusOK {
		t.Errorf("a minute ahead: %d", status)
	}
	testkit.Connect(t, testkit.Visit{URL: late.loopback(), Room: room, Role: wire.RolePlayer, Token: edge}).Leave()
	ahead.Store(int64(61 * time.Second))
	_, beyond := joinAs(t, early, room, token)
	if status := getPlayerStatus(t, late, room, beyond); status != http.StatusServiceUnavailable {
		t.Errorf("more than a minute ahead: %d", status)
	}
	status, code := testkit.Refused(t, testkit.Visit{URL: late.loopback(), Room: room, Role: wire.RolePlayer, Token: beyond})
	if status != http.StatusServiceUnavailable || code != "not_ready" {
		t.Errorf("its connection is refused with %d %s", status, code)
	}
	if again, _ := joinAs(t, late, room, beyond); again != id {
		t.Errorf("%s joins again as %s", id, again)
	}
}

// wantOnePlayer checks that a room has one.
func wantOnePlayer(t *testing.T, host *bots.Host, in *app, room string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, in.loopback()+"/api/rooms/"+room+"/players", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+host.Token())
	var answer struct {
		Players []struct{} `json:"players"`
	}
	if callJSON(t, request, &answer); len(answer.Players) != 1 {
		t.Errorf("one person is %d players", len(answer.Players))
	}
}
