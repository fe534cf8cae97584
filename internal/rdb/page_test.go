package rdb

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

// Pages are consecutive parts of one list, whatever the sizes of the batches, and whatever unreadable entries lie between them.
func TestClaimsAreReadPageByPage(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		r := newFixture(t, url)
		const packets = 700
		round := r.started(func(s *game.Settings) { s.Packets, s.Total = packets, 100*packets })
		if claims, err := r.Claims(t.Context(), round.ID, 0, 10); err != nil || len(claims) > 0 {
			t.Errorf("nobody has claimed anything, and there are %v, %v", claims, err)
		}
		var all []game.Claim
		for batch := 0; len(all) < packets-50; batch++ {
			taps := crowd(fmt.Sprintf("p%d-", batch), 1+rand.IntN(30)*rand.IntN(2), 1)
			all = append(all, claimsOf(taps, r.grab(round, taps))...)
			if rand.IntN(5) == 0 {
				r.spoil(round)
			}
		}
		r.close(round, game.Stopped)
		for range 400 {
			after, limit := rand.IntN(len(all)+3), 1+rand.IntN(80)
			want := all[min(after, len(all)):min(after+limit, len(all))]
			found, err := r.Claims(t.Context(), round.ID, after, limit)
			if err != nil || !slices.Equal(found, want) {
				t.Fatalf("after %d up to %d there are %v, %v; want %v", after, limit, found, err, want)
			}
		}
	})
}

// The batch that granted a claim can be found as long as the round's keys exist, wherever in the outbox it is.
func TestTheBatchOfAClaimIsFound(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		r := newFixture(t, url)
		round := r.started(func(s *game.Settings) { s.Packets, s.Total = 300, 30_000 })
		type grant struct {
			batch       string
			first, last int
		}
		var want []grant // by number - 1
		for n := 0; len(want) < 250; n++ {
			batch := r.NewBatch()
			crowd := crowd(fmt.Sprintf("p%d-", n), 1+rand.IntN(20), 1)
			if _, err := r.Grab(t.Context(), round.Room, round.ID, batch, crowd); err != nil {
				t.Fatal(err)
			}
			first := len(want) + 1
			for range crowd {
				want = append(want, grant{batch, first, first + len(crowd) - 1})
			}
			if rand.IntN(5) == 0 {
				r.spoil(round)
			}
		}
		for number := 1; number <= len(want); number++ {
			var got grant
			var err error
			if got.batch, got.first, got.last, err = r.GrantedIn(t.Context(), round.ID, number); err != nil || got != want[number-1] {
				t.Fatalf("claim %d was granted in %+v, %v; want %+v", number, got, err, want[number-1])
			}
		}
		if _, _, _, err := r.GrantedIn(t.Context(), round.ID, len(want)+1); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("a claim that nobody has: %v", err)
		}
	})
}

// spoil adds unreadable entries to an outbox.
func (r *fixture) spoil(round game.Round) {
	r.t.Helper()
	for _, values := range [][]string{{"kind", "nonsense"}, {"kind", "claims", "round", round.ID, "at", "1", "claims", "?"}} {
		if err := r.redis.XAdd(r.t.Context(), &redis.XAddArgs{Stream: outboxKey(round.ID), Values: values}).Err(); err != nil {
			r.t.Fatal(err)
		}
	}
}

// After its clock was set back Redis numbers stream entries within one millisecond. Pages are found there too, and none of a large
// round, first or last, costs more than a few reads.
func TestAPageOfALargeRoundIsFoundInFewReads(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	r := newFixture(t, server.URL)
	const packets, limit, most = 100_000, 100, 100
	round := r.started(func(s *game.Settings) { s.Packets, s.Total, s.Cap = packets, 100*packets, game.MaxCap })
	claimed := 0
	grab := func(until int) {
		for ; claimed < until; claimed += 20 {
			r.grab(round, crowd(fmt.Sprintf("p%d-", claimed/1000), 20, game.DropID(1+claimed)))
		}
	}
	grab(20_000)
	future := fmt.Sprintf("%d-0", 9_000_000_000_000)
	err := r.redis.XAdd(t.Context(), &redis.XAddArgs{Stream: outboxKey(round.ID), ID: future, Values: []string{"kind", "nonsense"}}).Err()
	if err != nil {
		t.Fatal(err)
	}
	grab(30_000)
	if now := r.redis.XRevRangeN(t.Context(), outboxKey(round.ID), "+", "-", 1).Val()[0]; now.ID < future {
		t.Fatalf("the clock was not set back: %s", now.ID)
	}
	for _, after := range []int{0, 1, 9_999, 15_000, 19_990, 20_000, 20_001, 25_007, 29_800, 29_999, 30_000} {
		before := r.reads()
		claims, err := r.Claims(t.Context(), round.ID, after, limit)
		if err != nil || len(claims) != min(limit, claimed-after) || (len(claims) > 0 && claims[0].Number != after+1) {
			t.Errorf("after %d there are %d claims, %v", after, len(claims), err)
		}
		if reads := r.reads() - before; reads > most {
			t.Errorf("a page after %d cost %d reads", after, reads)
		}
	}
}

var readsOfStreams = regexp.MustCompile(`cmdstat_x(?:rev)?range:calls=(\d+)`)

// reads is how often the server has read from a stream.
func (r *fixture) reads() (reads int) {
	r.t.Helper()
	stats, err := r.redis.Info(r.t.Context(), "commandstats").Result()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, match := range readsOfStreams.FindAllStringSubmatch(stats, -1) {
		calls, _ := strconv.Atoi(match[1])
		reads += calls
	}
	return reads
}
