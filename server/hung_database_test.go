package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// Every table of PostgreSQL is locked while players play, which stopped tallies, catching up and the lease until it was over, and
// kept everybody out who came back. Here all of that goes on, with the names that are known.
func TestPostgresHangsInTheMiddleOfARound(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	database := testkit.SharedPostgres(t)
	playThrough(t, server.URL, 25*time.Second, func(n *liveRound) {
		screen := testkit.Connect(t, testkit.Visit{URL: n.in.url, Room: n.room, Role: wire.RoleScreen})
		testkit.Expect(screen, func(tally wire.Tally) bool { return len(tally.Top) > 5 && hasNicknames(tally) })
		unlock := lockAll(t, database)
		for range 3 {
			n.awaitClaims(5)
			won := n.claims()
			testkit.Expect(screen, func(tally wire.Tally) bool { return tally.ClaimedPackets >= won && hasNicknames(tally) })
		}
		again := n.players[0].OpenTab(n.in.url)
		if err := again.Connect(t.Context()); err != nil {
			t.Errorf("a player who comes back: %v", err)
		}
		again.Disconnect()
		unlock()
	}, "DATABASE_URL="+database)
}

// hasNicknames: everybody on the board has the name that they came in under.
func hasNicknames(tally wire.Tally) bool {
	for _, rank := range tally.Top {
		if !strings.HasPrefix(rank.Nickname, "玩家") {
			return false
		}
	}
	return true
}

// lockAll keeps everybody else from every table until the returned function is called.
func lockAll(t *testing.T, database string) (unlock func()) {
	t.Helper()
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	locking, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	const all = `DO $$ DECLARE name text; BEGIN
		FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename LOOP
			EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', name);
		END LOOP; END $$`
	if _, err := locking.Exec(ctx, all); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := locking.Rollback(ctx); err != nil {
			t.Error(err)
		}
	}
}
