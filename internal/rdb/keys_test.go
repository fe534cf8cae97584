package rdb

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

// EXPIRE does nothing on a key that does not exist yet, so a key that is made later could live for ever. Every key of a round must have
// a TTL at every stage.
func TestEveryKeyHasATTLAtEveryStage(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		ctx, round := r.t.Context(), newRound(r.t, func(s *game.Settings) { split(s); s.Cap = 3 })
		stages := []struct {
			name string
			run  func() error
		}{
			{"staged", func() error { return r.stage(ctx, stagedKey(round.ID, "crashed"), make([]game.Cents, 2*stageChunk)) }},
			{"opened", func() error { r.open(round); r.at(round, -1); return nil }},
			{"lost", func() error { r.expect(round, "ann1", game.Early); return nil }},
			{"won", func() error { r.at(round, 0); r.expect(round, "ann1", game.Won); return nil }},
			{"won alone again", func() error { r.expect(round, "ann2", game.Won); return nil }},
			{"won by others", func() error { r.expect(round, "bob1 cy1", game.Won, game.Won); return nil }},
			{"opened again", func() error { r.open(round); return nil }},
			{"sold out", func() error { r.grab(round, crowd("p", 20, 1)); return nil }},
			{"reported", func() error { _, err := r.Report(ctx, round.Room, game.Report{}, time.Second); return err }},
			{"left", func() error { _, err := r.Report(ctx, round.Room, game.Report{}, 0); return err }},
			{"closed", func() error { r.close(round, game.Stopped); return nil }},
		}
		for _, stage := range stages {
			if err := stage.run(); err != nil {
				r.t.Fatalf("%s: %v", stage.name, err)
			}
			for _, key := range r.allKeys() {
				if ttl, err := r.redis.PTTL(ctx, key).Result(); ttl <= 0 || err != nil {
					r.t.Errorf("%s: %s has a TTL of %v, %v", stage.name, key, ttl, err)
				}
			}
		}
	})
}

func TestRoundsKeysLiveThirtyDaysAfterItsEnd(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		round := newRound(r.t, split)
		standing := r.open(round)
		r.expect(round, "ann1", game.Won)
		want := time.UnixMilli(int64(standing.EndsAt)).Add(30 * 24 * time.Hour)
		for _, key := range r.allKeys() {
			if strings.Contains(key, "{"+round.ID+"}") {
				left, err := r.redis.PTTL(r.t.Context(), key).Result()
				if off := time.Until(want) - left; err != nil || off.Abs() > time.Minute {
					r.t.Errorf("%s lives for %v more, %v", key, left, err)
				}
			}
		}
	})
}

// oddNames could be changed by cjson, Lua patterns or number formats: an id of 18 digits, say, to 3.6562861788084e+17.
var oddNames = []string{
	"365628617880410000", "365628617880410001", "3.6562861788084e+17", "000123", "123", "1e5", "-0", "nan", "nil", "0x10",
	"%d+", ".*", "^a$", "ann:7", "a-b_c", "多多", "👩‍🚀", "'quoted\"", "\\n", "{tag}", "|", "NULL",
}

// Ids are strings, and come back equal byte for byte.
func TestNamesComeBackByteForByte(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		for _, id := range []string{"365628617880410000", "00012"} {
			round := newRound(r.t, func(s *game.Settings) { split(s); s.Packets = len(oddNames) })
			round.ID = string(round.Settings.Split) + id
			r.open(round)
			batch := make([]game.Tap, len(oddNames))
			for i, name := range oddNames {
				batch[i] = game.Tap{Player: name, Drop: game.DropID(i + 1)}
			}
			r.grab(round, batch)
			r.checkNames(round)
		}
	})
}

func (r *fixture) checkNames(round game.Round) {
	ctx := r.t.Context()
	var all, top, latest, held []string
	claims, err := r.Claims(ctx, round.ID, 0, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, claim := range claims {
		all = append(all, claim.Player)
	}
	snapshot, err := r.Snapshot(ctx, round.ID, 100, 100)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, rank := range snapshot.Top {
		top = append(top, rank.Player)
	}
	for _, claim := range snapshot.Latest {
		latest = append(latest, claim.Player)
	}
	ofAll, err := r.ClaimsOf(ctx, round.ID, oddNames...)
	if err != nil {
		r.t.Fatal(err)
	}
	for player := range ofAll {
		held = append(held, player)
	}
	want := slices.Sorted(slices.Values(oddNames))
	for name, got := range map[string][]string{"claims": all, "board": top, "latest": latest, "held": held} {
		if slices.Sort(got); !slices.Equal(got, want) {
			r.t.Errorf("%s has the names\n%q, want\n%q", name, got, want)
		}
	}
	if got := r.unsettled(round)[0]["round"]; got != round.ID {
		r.t.Errorf("the outbox is of round %q, want %q", got, round.ID)
	}
}

// On a cluster a script whose keys are in different slots fails with CROSSSLOT, so all keys of a round are in one slot. A cluster of a
// single node checks that too.
func TestARoundOnARedisCluster(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t, "--cluster-enabled", "yes")
	makeCluster(t, server)
	for name, split := range map[string]func(*game.Settings){"live": func(*game.Settings) {}, "dealt": dealtEqual} {
		t.Run(name, func(t *testing.T) {
			r := newFixture(t, "redis+cluster://"+server.Addr)
			round := r.started(split)
			r.expect(round, "ann1 bob1 ann1", game.Won, game.Won, game.Duplicate)
			if _, err := r.Report(t.Context(), round.Room, game.Report{Round: round.ID}, time.Second); err != nil {
				t.Error(err)
			}
			if closed := r.close(round, game.Stopped); closed.Left.Packets != 18 {
				t.Errorf("left %v", closed.Left)
			}
			oneSlot(t, r, stateKey(round.ID), claimsKey(round.ID), boardKey(round.ID), outboxKey(round.ID),
				amountsKey(round.ID), stagedKey(round.ID, "x"))
			oneSlot(t, r, leaseKey(round.Room), reportsKey(round.Room), presenceKey(round.Room))
		})
	}
}

func makeCluster(t *testing.T, server *testkit.RedisServer) {
	node := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer node.Close()
	if err := node.ClusterAddSlotsRange(t.Context(), 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, soon, func() error {
		state, err := node.ClusterInfo(t.Context()).Result()
		if err == nil && !strings.Contains(state, "cluster_state:ok") {
			err = fmt.Errorf("the cluster is not up: %.60s", state)
		}
		return err
	})
}

func oneSlot(t *testing.T, r *fixture, keys ...string) {
	t.Helper()
	slots := make(map[int64]bool)
	for _, key := range keys {
		slot, err := r.redis.ClusterKeySlot(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		slots[slot] = true
	}
	if len(slots) != 1 {
		t.Errorf("%q lie in the slots %v", keys, slots)
	}
}
