package rdb

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

func TestOpenSetsTheWindowByRedisClock(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		round := newRound(r.t, func(s *game.Settings) { split(s); s.Countdown = 7000 })
		now := game.Moment(time.Now().UnixMilli() + 86_400_123)
		r.now.Store(int64(now))
		got, err := r.Open(r.t.Context(), round, amountsOf(round))
		if err != nil {
			r.t.Fatal(err)
		}
		want := game.Standing{
			Round: round.ID, Phase: game.Countdown, StartsAt: now + 7000, EndsAt: now + 37_000, Now: now,
			Left: game.Total{Packets: 20, Cents: 10_000},
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			r.t.Errorf("opened as %+v, want %+v", got, want)
		}
		r.at(round, 0)
		if raining, err := r.Standing(r.t.Context(), round.ID); err != nil || raining.Phase != game.Raining {
			r.t.Errorf("at the start it is %s, %v", raining.Phase, err)
		}
	})
}

func TestOpenMayBeRepeated(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		round := r.started(split)
		first := r.expect(round, "ann1", game.Won)
		r.at(round, 1234)
		again, err := r.Open(r.t.Context(), round, amountsOf(round))
		if err != nil {
			r.t.Fatal(err)
		}
		if again.StartsAt != first.Now || again.Left != first.Left {
			r.t.Errorf("opened again as %+v", again)
		}
		r.expect(round, "ann1 bob1", game.Duplicate, game.Won)
		for _, key := range r.allKeys() {
			if strings.Contains(key, "staged") {
				r.t.Errorf("%s is left", key)
			}
		}
	})
}

// Of concurrent starts every one gets the same window.
func TestOpenersAtOnceMakeOneRound(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		for _, split := range []func(*game.Settings){func(*game.Settings) {}, dealtEqual} {
			r, round := newFixture(t, url), newRound(t, split)
			windows := make([]game.Moment, 8)
			var openers sync.WaitGroup
			for i := range windows {
				openers.Go(func() {
					standing, err := r.Open(t.Context(), round, amountsOf(round))
					if err != nil {
						t.Error(err)
					}
					windows[i] = standing.StartsAt
				})
			}
			openers.Wait()
			if slices.Min(windows) != slices.Max(windows) {
				t.Errorf("windows start at %v", windows)
			}
			if round.Settings.Split == game.SplitDealt {
				if n, err := r.redis.LLen(t.Context(), amountsKey(round.ID)).Result(); n != 20 || err != nil {
					t.Errorf("%d amounts, %v", n, err)
				}
			}
		}
	})
}

// Claims without a state mean that the state was lost: opening the round again would pay twice.
func TestOpenRefusesWhatIsTorn(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		for _, left := range []string{"claims", "outbox"} {
			r := newFixture(t, url)
			round := r.started(nil)
			r.expect(round, "ann1", game.Won)
			for _, gone := range []string{"state", "board", "claims", "outbox"} {
				if gone != left {
					if err := r.redis.Del(t.Context(), roundKey(round.ID, gone)).Err(); err != nil {
						t.Fatal(err)
					}
				}
			}
			before := r.contents()
			_, err := r.Open(t.Context(), round, nil)
			mustBe(t, err, game.ErrTorn)
			same(t, before, r.contents())
		}
	})
}

func TestOpenRefusesTheWrongNumberOfAmounts(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		r, round := newFixture(t, url), newRound(t, dealtEqual)
		for _, amounts := range [][]game.Cents{nil, amountsOf(round)[:19], append(amountsOf(round), 1)} {
			_, err := r.Open(t.Context(), round, amounts)
			mustBe(t, err, game.ErrTorn)
			_, err = r.Standing(t.Context(), round.ID)
			mustBe(t, err, game.ErrGone)
		}
		r.open(round)
		r.expect(round, "ann1", game.Won)
	})
}

func TestOpenTakesManyAmounts(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		r := newFixture(t, url)
		round := r.started(func(s *game.Settings) {
			s.Split, s.Deal, s.Packets, s.Total = game.SplitDealt, game.DealDoubleMean, 2*stageChunk+7, 1_000_000
		})
		stored, err := r.redis.LRange(t.Context(), amountsKey(round.ID), 0, -1).Result()
		if want := amountsOf(round); err != nil || fmt.Sprint(stored) != fmt.Sprint(inCents(want)) {
			t.Errorf("%d amounts of %d stored, or in another order: %v", len(stored), len(want), err)
		}
	})
}

func inCents(amounts []game.Cents) []int64 {
	cents := make([]int64, len(amounts))
	for i, amount := range amounts {
		cents[i] = int64(amount)
	}
	return cents
}

// A consumer group made at the end of the stream would never get the earlier claims.
func TestOutboxHasItsGroupFromTheBeginning(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		round := r.started(split)
		groups, err := r.redis.XInfoGroups(r.t.Context(), outboxKey(round.ID)).Result()
		if err != nil || len(groups) != 1 || groups[0].Name != settleGroup || strings.Trim(groups[0].LastDeliveredID, "0-") != "" {
			r.t.Fatalf("groups before the first claim: %+v, %v", groups, err)
		}
		batch := r.NewBatch()
		got, err := r.Grab(r.t.Context(), round.Room, round.ID, batch, taps("ann1 bob2 ann1"))
		if err != nil {
			r.t.Fatal(err)
		}
		entry := r.unsettled(round)[0]
		want := map[string]any{
			"kind": "claims", "round": round.ID, "at": fmt.Sprint(int64(got.Now)),
			"claims": fmt.Sprintf("ann 1 %d 1;bob 2 %d 2", got.Answers[0].Cents, got.Answers[1].Cents), "batch": batch,
		}
		if fmt.Sprint(entry) != fmt.Sprint(want) {
			r.t.Errorf("the entry is %v, want %v", entry, want)
		}
		r.grab(round, taps("ann1 ann2"))
		if more := r.unsettled(round); len(more) != 0 {
			r.t.Errorf("taps that won nothing left %v", more)
		}
	})
}

func TestCloseIsOnceAndRefundsOnce(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		round := r.started(split)
		rest := r.grab(round, crowd("p", 3, 1)).Left.Cents
		r.unsettled(round)
		r.at(round, 5000)
		first := r.close(round, game.Stopped)
		r.at(round, 60_000)
		again := r.close(round, game.ByTime)
		first.Now = again.Now
		if first.Reason != game.Stopped || first.Phase != game.Closed || fmt.Sprint(again) != fmt.Sprint(first) {
			r.t.Errorf("closed as %+v, then as %+v", first, again)
		}
		entries := r.unsettled(round)
		want := map[string]any{
			"kind": "refund", "round": round.ID, "at": fmt.Sprint(int64(first.StartsAt) + 5000), "reason": "stopped",
			"claims": "3", "claimed_cents": fmt.Sprint(int64(10_000 - rest)), "refund_cents": fmt.Sprint(int64(rest)),
		}
		if len(entries) != 1 || fmt.Sprint(entries[0]) != fmt.Sprint(want) {
			r.t.Errorf("the outbox has %v, want once %v", entries, want)
		}
		r.expect(round, "zoe1", game.Late)
	})
}

func TestClosersAtOnceRefundOnce(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		r := newFixture(t, url)
		round := r.started(nil)
		r.expect(round, "ann1", game.Won)
		r.now.Store(0)
		var closers sync.WaitGroup
		for range 8 {
			closers.Go(func() {
				if _, err := r.Close(t.Context(), round, game.Stopped); err != nil {
					t.Error(err)
				}
			})
		}
		closers.Wait()
		if entries := r.unsettled(round); len(entries) != 2 {
			t.Errorf("the outbox has %v, want a claim and a refund", entries)
		}
	})
}

func TestCloseWaitsForItsReason(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		for _, c := range []struct {
			reason game.CloseReason
			ms     int64
			taken  int
			want   error
		}{
			{game.ByTime, 29_999, 0, game.ErrNotYet},
			{game.ByTime, 30_000, 0, nil},
			{game.BySoldOut, 0, 19, game.ErrNotYet},
			{game.BySoldOut, 0, 20, nil},
			{game.Cancelled, -1, 0, nil},
			{game.Cancelled, 0, 0, game.ErrWrongPhase},
			{game.Stopped, -1, 0, nil},
			{game.Stopped, 29_999, 5, nil},
			{game.Interrupted, 0, 5, nil},
		} {
			round := r.started(split)
			if c.taken > 0 {
				r.grab(round, crowd("p", c.taken, 1))
			}
			r.at(round, c.ms)
			before := r.contents()
			standing, err := r.Close(r.t.Context(), round, c.reason)
			if !errors.Is(err, c.want) {
				r.t.Errorf("%+v: error is %v", c, err)
			}
			if c.want != nil {
				same(r.t, before, r.contents())
			} else if standing.Reason != c.reason || standing.Left.Packets != 20-c.taken {
				r.t.Errorf("%+v: closed as %+v", c, standing)
			}
		}
	})
}

func TestCloseOfNoRoundIsGone(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		r := newFixture(t, url)
		_, err := r.Close(t.Context(), newRound(t, nil), game.Stopped)
		mustBe(t, err, game.ErrGone)
		_, err = r.Snapshot(t.Context(), "nowhere", 10, 10)
		mustBe(t, err, game.ErrGone)
		if keys := r.allKeys(); len(keys) > 0 {
			t.Errorf("keys %v were made", keys)
		}
	})
}
