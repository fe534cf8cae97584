package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"redrain/internal/testkit"
)

// Two instances start at once on an empty PostgreSQL behind a PgBouncer in transaction mode, play a round, settle it, agree
// with their books and stop. They get one connection to the database, or two, for all of that.
//
// Session locks do not work there: they stay on a connection of the pooler's, where they shut out everybody or nobody.
func TestTwoInstancesPlayThroughAPooler(t *testing.T) {
	t.Parallel()
	for _, pool := range []int{1, 2} {
		t.Run(fmt.Sprint(pool), func(t *testing.T) {
			database := testkit.PgBouncer(t, testkit.SharedPostgres(t), pool).URL
			env := []string{
				"HOST=127.0.0.1", "PORT=0", "HOST_PASSWORD=" + password, "REDIS_URL=" + testkit.Redis(t).URL, "DATABASE_URL=" + database,
			}
			a, b := startProgram(t, env), startProgram(t, env)
			instances := []*instance{{Program: a}, {Program: b}}
			for _, in := range instances {
				in.url = in.Await(t, soon, `players +(http://127\.0\.0\.1:\d+)/`)[1]
			}
			playThroughPooler(t, instances)
			for _, in := range instances {
				if code := in.Interrupt(t, soon); code != exitOK || strings.Contains(in.Output(), "level=ERROR") {
					t.Errorf("it ended with %d: %s", code, in.Output())
				}
			}
			check := startProgram(t, env[3:], "reconcile")
			if code := check.Wait(t, soon); code != exitOK || !strings.Contains(check.Output(), "settled   agrees") {
				t.Errorf("server reconcile ended with %d: %s", code, check.Output())
			}
		})
	}
}

func playThroughPooler(t *testing.T, instances []*instance) {
	t.Helper()
	host := loginHost(t, instances[0])
	room := newRoom(t, host)
	players := joinPlayers(t, room, 6, instances...)
	round := newRound(t, host, room, map[string]any{
		"total_cents": 10_000, "packets": 60, "cap": 20, "countdown_ms": 0, "duration_ms": 3000, "close_when_sold_out": false,
	})
	startRound(t, host, round.ID)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tapAll(ctx, t, round.ID, players)
	if books := awaitSettled(t, host, round.ID); books.Ledger.Claims < 10 {
		t.Errorf("the ledger holds %d claims", books.Ledger.Claims)
	}
	awaitHeard(t, host, round.ID, players)
	audit(t, host, round.ID, players)
}
