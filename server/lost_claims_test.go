package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// The instance that granted claims dies together with Redis, which comes back without them, and no settler has seen them. The
// other instance was only watched on a big screen: it freezes the round, its host's page hears why, and operators count one.
func TestInstanceDetectsLossOfClaimsItDidNotGrant(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := testkit.Redis(t, "--dir", dir, "--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0")
	a, b := startTwo(t, server.URL, "NO_SETTLE=true")
	host := loginHost(t, b)
	room := newRoom(t, host)
	watching := testkit.Connect(t, testkit.Visit{URL: b.url, Room: room, Role: wire.RoleHost, Token: newHostAPI(t, b).token})
	player := joinPlayers(t, room, 1, a)[0]
	round := newRound(t, host, room, map[string]any{
		"total_cents": 50_000, "packets": 500, "cap": 100, "countdown_ms": 0, "duration_ms": 600_000, "pace": "burst", "bomb_percent": 0,
	})
	startRound(t, host, round.ID)
	winUntil := func(claims int) {
		t.Helper()
		testkit.Eventually(t, soon, func() error {
			if drop := player.NextDrop(); drop != 0 {
				if err := player.Tap(t.Context(), drop, time.Now()); err != nil {
					return err
				}
			}
			if won := len(player.Won()); won < claims {
				return fmt.Errorf("%d claims, want %d", won, claims)
			}
			return nil
		})
	}
	winUntil(4)
	logs, err := filepath.Glob(dir + "/appendonlydir/*.incr.aof")
	if err != nil || len(logs) != 1 {
		t.Fatalf("append-only files are %v, %v", logs, err)
	}
	before, err := os.Stat(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	winUntil(9)
	testkit.Expect(watching, func(tally wire.Tally) bool { return tally.ClaimedPackets >= 9 })

	a.Kill(t)
	server.Kill()
	if err := os.Truncate(logs[0], before.Size()); err != nil {
		t.Fatal(err)
	}
	server.Restart()
	testkit.Expect(watching, func(n wire.Notice) bool { return n.Code == "claims_lost" })
	testkit.Expect(watching, func(r wire.RoundChanged) bool { return r.Round.Frozen })
	if got, err := host.Round(t.Context(), round.ID); err != nil || !got.Frozen || got.Phase != game.Raining {
		t.Errorf("the round is %+v, %v", got, err)
	}
	books, err := host.Reconciliation(t.Context(), round.ID)
	if err != nil || books.Agrees || len(books.Differences) == 0 {
		t.Errorf("the books are %+v, %v", books, err)
	}
	if status, metrics := getBody(t, b.url+"/metrics"); status != 200 || !strings.Contains(metrics, "redrain_settle_lost_total 1\n") {
		t.Errorf("the metrics are %d %s", status, metrics)
	}
}
