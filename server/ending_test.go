package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"testing"
	"time"

	"redrain/internal/bots"
	"redrain/internal/game"
	"redrain/internal/testkit"
)

// openDatabase reads a SQLite file past the product, so that no request reminds an instance of anything.
func openDatabase(t *testing.T, path string) *sql.DB {
	t.Helper()
	books, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { books.Close() })
	return books
}

// awaitEnd waits until the database says that a round is over, and returns the reason.
func awaitEnd(t *testing.T, books *sql.DB, round string, within time.Duration) (reason string) {
	t.Helper()
	testkit.Eventually(t, within, func() error {
		var phase game.Phase
		row := books.QueryRowContext(t.Context(), "SELECT phase, reason FROM rounds WHERE id = ?", round)
		if err := row.Scan(&phase, &reason); err != nil {
			return fmt.Errorf("read the round: %w", err)
		}
		if !phase.Over() {
			return fmt.Errorf("the round is %s", phase)
		}
		return nil
	})
	return reason
}

// Elsewhere a round hung when the host's page closed, or when the instance died that had started it. Here nobody needs
// to be connected anywhere: another instance ends it on time, and else the next start does.
func TestRoundEndsWithoutConnections(t *testing.T) {
	t.Run("another instance", func(t *testing.T) {
		t.Parallel()
		database := t.TempDir() + "/books.db"
		env := []string{"REDIS_URL=" + testkit.Redis(t).URL, "DATABASE_URL=sqlite:" + database}
		a := startInstance(t, env...)
		startInstance(t, env...)
		books := openDatabase(t, database)
		round := startBriefRound(t, a)
		a.Kill(t)
		reason := awaitEnd(t, books, round, soon)
		var late int64
		row := books.QueryRowContext(t.Context(), "SELECT closed_at - ends_at FROM rounds WHERE id = ?", round)
		if err := row.Scan(&late); err != nil {
			t.Fatal(err)
		}
		if reason != string(game.ByTime) || late < 0 || late > 2000 {
			t.Errorf("closed by %s, %d ms after its end; want by time and within 2 s", reason, late)
		}
	})
	t.Run("the next start", func(t *testing.T) {
		t.Parallel()
		database := t.TempDir() + "/books.db"
		env := []string{"REDIS_URL=" + testkit.Redis(t).URL, "DATABASE_URL=sqlite:" + database}
		a := startInstance(t, env...)
		round := startBriefRound(t, a)
		a.Kill(t)
		startInstance(t, env...)
		if reason := awaitEnd(t, openDatabase(t, database), round, soon); reason != string(game.ByTime) {
			t.Errorf("closed by %s, want by time", reason)
		}
	})
	t.Run("the next start with an embedded Redis, which has lost the round", func(t *testing.T) {
		t.Parallel()
		database := t.TempDir() + "/books.db"
		a := startInstance(t, "DATABASE_URL=sqlite:"+database)
		round := startBriefRound(t, a)
		a.Kill(t)
		startInstance(t, "DATABASE_URL=sqlite:"+database)
		if reason := awaitEnd(t, openDatabase(t, database), round, soon); reason != string(game.Interrupted) {
			t.Errorf("closed by %s, want interrupted", reason)
		}
	})
}

// startBriefRound starts a round of 4 s over HTTP and leaves no connection.
func startBriefRound(t *testing.T, in *instance) string {
	t.Helper()
	host := loginHost(t, in)
	round := newRound(t, host, newRoom(t, host), map[string]any{"total_cents": 1000, "packets": 10, "countdown_ms": 1000, "duration_ms": 3000})
	startRound(t, host, round.ID)
	return round.ID
}

// Somebody else holds the database's write lock for some seconds, over the end of a round: taps do not need it and are
// answered as ever, who comes in waits, and the round is closed in the books as soon as they can be written.
func TestTheDatabaseIsLockedForAWhile(t *testing.T) {
	t.Parallel()
	database := t.TempDir() + "/books.db"
	in := startInstance(t, "REDIS_URL="+testkit.Redis(t).URL, "DATABASE_URL=sqlite:"+database)
	host := loginHost(t, in)
	room := newRoom(t, host)
	players := joinPlayers(t, room, 10, in)
	round := newRound(t, host, room, map[string]any{
		"total_cents": 10_000, "packets": 300, "cap": 100, "countdown_ms": 0, "duration_ms": 5000, "close_when_sold_out": false,
	})
	startRound(t, host, round.ID)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	played := make(chan struct{})
	go func() {
		defer close(played)
		tapAll(ctx, t, round.ID, players)
	}()
	awaitRain(t, players[0], 10)

	unlock := lock(t, openDatabase(t, database))
	before := players[0].Tally().ClaimedPackets
	awaitRain(t, players[0], before+20)
	joined := make(chan error, 1)
	go func() {
		late, err := bots.Join(ctx, in.url, "", room, "迟到")
		if err == nil {
			err = late.Connect(ctx)
			defer late.Disconnect()
		}
		joined <- err
	}()
	testkit.Eventually(t, soon, func() error { // the round is over by the clock while its close cannot be written
		if elapsed := time.Since(time.UnixMilli(int64(players[0].Round().EndsAt))); elapsed < 500*time.Millisecond {
			return fmt.Errorf("the round ends in %v", -elapsed)
		}
		return nil
	})
	if status, body := getBody(t, in.url+"/healthz"); status != http.StatusOK {
		t.Errorf("/healthz says %d %s", status, body)
	}
	unlock()

	if err := <-joined; err != nil {
		t.Errorf("who came in while the database was locked: %v", err)
	}
	<-played
	awaitClosed(t, host, round.ID, soon)
	awaitHeard(t, host, round.ID, players)
	audit(t, host, round.ID, players)
}

// awaitRain waits until a player has heard of so many claims in the room.
func awaitRain(t *testing.T, p *bots.Player, claims int) {
	t.Helper()
	testkit.Eventually(t, soon, func() error {
		if tally := p.Tally(); tally.ClaimedPackets < claims {
			return fmt.Errorf("%d packets are claimed, want %d", tally.ClaimedPackets, claims)
		}
		return nil
	})
}

// lock takes the database's write lock until unlock is called.
func lock(t *testing.T, books *sql.DB) (unlock func()) {
	t.Helper()
	held, err := books.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"PRAGMA busy_timeout = 10000", "BEGIN IMMEDIATE"} {
		if _, err := held.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		if _, err := held.ExecContext(t.Context(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
		if err := held.Close(); err != nil {
			t.Error(err)
		}
	}
}
