package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"redrain/internal/bots"
	"redrain/internal/game"
	"redrain/internal/testkit"
)

// 500 players over two processes on one Redis, fifty of them with a second tab on the other instance, all tapping whatever
// falls: every invariant that can be seen from outside holds.
func TestTwoInstancesOneRedis(t *testing.T) {
	t.Parallel()
	redis := testkit.Redis(t)
	a, b := startTwo(t, redis.URL)
	host := loginHost(t, a)
	room := newRoom(t, host)
	for _, settings := range []map[string]any{
		{"total_cents": 100_000, "packets": 800, "cap": 3, "pace": "even"},
		{"total_cents": 100_000, "packets": 1200, "cap": 2, "pace": "burst", "split": "dealt", "min_cents": 10, "max_cents": 300},
	} {
		t.Run(fmt.Sprint(settings["pace"]), func(t *testing.T) {
			settings["countdown_ms"], settings["duration_ms"], settings["drops_per_second"] = 1000, 6000, 10
			playOverTwo(t, host, room, settings, a, b)
		})
	}
}

func playOverTwo(t *testing.T, host *bots.Host, room string, settings map[string]any, a, b *instance) {
	players := joinPlayers(t, room, 500, a, b)
	for i := range 50 {
		other := []*instance{b, a}[i%2]
		tab := players[i].OpenTab(other.url)
		if err := tab.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(tab.Disconnect)
		players = append(players, tab)
	}
	testkit.Eventually(t, soon, func() error {
		if online := players[0].Tally().Online; online != 500 {
			return fmt.Errorf("500 players, 50 of them at both instances, count as %d online", online)
		}
		return nil
	})
	round := newRound(t, host, room, settings)
	startRound(t, host, round.ID)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tapAll(ctx, t, round.ID, players)
	awaitClosed(t, host, round.ID, soon)
	awaitHeard(t, host, round.ID, players)
	audit(t, host, round.ID, players)
	claims, err := host.Claims(t.Context(), round.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(claims) < round.Packets/2 {
		t.Errorf("500 players claimed only %d of %d packets", len(claims), round.Packets)
	}
}

// awaitHeard waits until every player was told of each of their claims: claim messages may trail the round's end.
func awaitHeard(t testing.TB, host *bots.Host, round string, players []*bots.Player) {
	t.Helper()
	claims, err := host.Claims(t.Context(), round)
	if err != nil {
		t.Fatal(err)
	}
	booked := make(map[string]int)
	for _, claim := range claims {
		booked[claim.Player]++
	}
	testkit.Eventually(t, soon, func() error {
		for _, p := range players {
			if heard := len(p.Won()); heard < booked[p.ID] {
				return fmt.Errorf("player %s has heard of %d of %d claims: %w", p.ID, heard, booked[p.ID], cmp.Or(p.Err(), errors.New("the line is good")))
			}
		}
		return nil
	})
}

// One instance is killed in the middle of a round: the other goes on telling the tally within 2 s, its players play on, and
// the round ends on time.
func TestAnInstanceDiesInTheMiddleOfARound(t *testing.T) {
	t.Parallel()
	redis := testkit.Redis(t)
	a, b := startTwo(t, redis.URL)
	host := loginHost(t, b)
	room := newRoom(t, host)
	lost := joinPlayers(t, room, 20, a)
	kept := joinPlayers(t, room, 20, b)
	round := newRound(t, host, room, map[string]any{
		"total_cents": 50_000, "packets": 400, "cap": 20, "countdown_ms": 0, "duration_ms": 8000, "close_when_sold_out": false,
	})
	round = startRound(t, host, round.ID)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	played := make(chan struct{})
	go func() {
		defer close(played)
		tapAll(ctx, t, round.ID, append(append([]*bots.Player{}, lost...), kept...))
	}()
	testkit.Eventually(t, soon, func() error {
		if tally := kept[0].Tally(); tally.Round != round.ID || tally.ClaimedPackets < 20 {
			return fmt.Errorf("the tally says %+v", tally)
		}
		return nil
	})
	before := kept[0].Tally()
	a.Kill(t)
	killed := time.Now()
	testkit.Eventually(t, soon, func() error {
		if tally := kept[0].Tally(); tally.ClaimedPackets <= before.ClaimedPackets+5 || tally.Online != 20 {
			return fmt.Errorf("the tally says %d claimed and %d online", tally.ClaimedPackets, tally.Online)
		}
		return nil
	})
	t.Logf("the tally went on, without the dead instance's players, after %v", time.Since(killed))
	<-played
	closed := awaitClosed(t, host, round.ID, soon)
	if closed.Reason != game.ByTime {
		t.Errorf("the round closed by %s, want by time", closed.Reason)
	}
	awaitHeard(t, host, round.ID, kept)
	audit(t, host, round.ID, kept)
}
