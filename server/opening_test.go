package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"redrain/internal/bots"
	"redrain/internal/testkit"
)

// readClaims is what a player gets who opens their packets, byte by byte.
func readClaims(t *testing.T, in *instance, round string, player *bots.Player) (string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, in.url+"/api/rounds/"+round+"/claims/me", nil)
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(player.Address())
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+address.Query().Get("token"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%d %s", response.StatusCode, text)
	}
	return string(text), err
}

// What a packet holds is the same right after it was won, when its round is settled, when Redis has forgotten it, on another
// instance, and after all of them were started anew.
func TestClaimsStayTheSameAfterSettlement(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	env := []string{"REDIS_URL=" + server.URL, "DATABASE_URL=sqlite:" + t.TempDir() + "/books.db", "SESSION_SECRET=0123456789abcdef0123456789abcdef"}
	a := startInstance(t, env...)
	host := loginHost(t, a)
	room := newRoom(t, host)
	players := joinPlayers(t, room, 6, a)
	round := newRound(t, host, room, map[string]any{
		"total_cents": 5000, "packets": 8, "cap": 2, "countdown_ms": 0, "duration_ms": 8000, "pace": "burst", "bomb_percent": 0,
	})
	startRound(t, host, round.ID)
	tapAll(t.Context(), t, round.ID, players)
	awaitClosed(t, host, round.ID, soon)
	first := make([]string, len(players))
	for i, player := range players {
		var err error
		if first[i], err = readClaims(t, a, round.ID, player); err != nil {
			t.Fatal(err)
		}
	}
	same := func(when string, in *instance) {
		t.Helper()
		for i, player := range players {
			if got, err := readClaims(t, in, round.ID, player); err != nil || got != first[i] {
				t.Errorf("%s a player opens %s, %v; at first it was %s", when, got, err, first[i])
			}
		}
	}
	same("again", a)
	awaitSettled(t, host, round.ID)
	same("when it is settled,", a)
	claims, err := host.Claims(t.Context(), round.ID)
	if err != nil || len(claims) != 8 {
		t.Fatalf("%d claims, %v", len(claims), err)
	}
	client := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer client.Close()
	testkit.Eventually(t, soon, func() error { // until the settler has let go of it
		keys, err := client.Keys(t.Context(), "*"+round.ID+"*").Result()
		for _, key := range keys {
			if client.TTL(t.Context(), key).Val().Hours() > 25 {
				return errors.Join(err, fmt.Errorf("%s stays", key))
			}
		}
		return err
	})
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	same("when Redis has forgotten it,", a)
	same("on another instance,", startInstance(t, env...))
	again, err := host.Claims(t.Context(), round.ID)
	if err != nil || fmt.Sprint(again) != fmt.Sprint(claims) {
		t.Errorf("the claims were %v and are %v, %v", claims, again, err)
	}
}

// Redis lost a round in the middle: what reached the books is shown to its host and its players as before.
func TestClaimsOfALostRoundAreReadFromTheBooks(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	in := startInstance(t, "REDIS_URL="+server.URL)
	host := loginHost(t, in)
	room := newRoom(t, host)
	players := joinPlayers(t, room, 4, in)
	round := newRound(t, host, room, map[string]any{
		"total_cents": 5000, "packets": 4, "countdown_ms": 0, "duration_ms": 60_000, "pace": "burst", "bomb_percent": 0, "close_when_sold_out": false,
	})
	startRound(t, host, round.ID)
	ctx, enough := context.WithCancel(t.Context())
	var playing sync.WaitGroup
	playing.Go(func() { tapAll(ctx, t, round.ID, players) })
	testkit.Eventually(t, soon, func() error {
		books, err := host.Reconciliation(t.Context(), round.ID)
		if err == nil && books.Ledger.Claims != 4 {
			err = fmt.Errorf("the ledger has %d claims", books.Ledger.Claims)
		}
		return err
	})
	enough()
	playing.Wait()
	claims, err := host.Claims(t.Context(), round.ID)
	if err != nil || len(claims) != 4 {
		t.Fatalf("%d claims, %v", len(claims), err)
	}
	mine, err := readClaims(t, in, round.ID, players[0])
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer client.Close()
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if again, err := host.Claims(t.Context(), round.ID); err != nil || fmt.Sprint(again) != fmt.Sprint(claims) {
		t.Errorf("the claims were %v and are %v, %v", claims, again, err)
	}
	if again, err := readClaims(t, in, round.ID, players[0]); err != nil || again != mine {
		t.Errorf("a player opens %s, %v; before it was %s", again, err, mine)
	}
}
