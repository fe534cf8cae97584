package rdb

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

func onEachRedis(t *testing.T, test func(t *testing.T, r *fixture)) {
	testkit.EachRedis(t, func(t *testing.T, url string) { test(t, newFixture(t, url)) })
}

func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func idsOf(entries []game.Entry) []string {
	ids := make([]string, len(entries))
	for i, entry := range entries {
		ids[i] = entry.ID
	}
	return ids
}

func TestOutboxGivesEachEntryToOneSettlerUntilItIsAcknowledged(t *testing.T) {
	t.Parallel()
	onEachRedis(t, func(t *testing.T, r *fixture) {
		ctx := t.Context()
		other := r.second(t)
		round := r.started(nil)
		won := r.grab(round, taps("ann1 bob1"))
		r.grab(round, taps("cat1"))
		r.close(round, game.Stopped)
		first := must(r.ReadNew(ctx, round.ID, 1))(t)
		want := []game.Claim{{Player: "ann", Drop: 1, Cents: won.Answers[0].Cents, Number: 1}, {Player: "bob", Drop: 1, Cents: won.Answers[1].Cents, Number: 2}}
		if len(first) != 1 || fmt.Sprint(first[0].Claims) != fmt.Sprint(want) || first[0].At != won.Now || first[0].Refund != nil {
			t.Fatalf("the first entry is %+v", first)
		}
		rest := must(other.ReadNew(ctx, round.ID, 10))(t)
		if len(rest) != 2 || rest[0].Claims[0].Player != "cat" || rest[1].Refund == nil {
			t.Fatalf("the rest is %+v", rest)
		}
		refund := *rest[1].Refund
		if refund.Reason != game.Stopped || refund.Claimed.Packets != 3 || refund.Claimed.Cents+refund.Cents != round.Settings.Total {
			t.Errorf("the refund is %+v", refund)
		}
		if more := must(r.ReadNew(ctx, round.ID, 10))(t); len(more) != 0 {
			t.Errorf("given twice: %+v", more)
		}
		if again := must(r.ReadPending(ctx, round.ID, "0", 10))(t); len(again) != 1 || again[0].ID != first[0].ID {
			t.Errorf("this one's own are %+v", again)
		}
		if after := must(r.ReadPending(ctx, round.ID, first[0].ID, 10))(t); len(after) != 0 {
			t.Errorf("after its last one are %+v", after)
		}
		if err := r.Acknowledge(ctx, round.ID, idsOf(first)...); err != nil {
			t.Fatal(err)
		}
		if again := must(r.ReadPending(ctx, round.ID, "0", 10))(t); len(again) != 0 {
			t.Errorf("given although acknowledged: %+v", again)
		}
	})
}

func TestClaimStaleNeedsIdleEntries(t *testing.T) {
	t.Parallel()
	onEachRedis(t, func(t *testing.T, r *fixture) {
		ctx := t.Context()
		dead := r.second(t)
		round := r.started(func(s *game.Settings) { s.Cap = 5 })
		for i := range 5 {
			r.grab(round, taps(fmt.Sprint("ann", i+1, " bob", i+1)))
		}
		must(dead.ReadNew(ctx, round.ID, 5))(t)
		if young, next, err := r.ClaimStale(ctx, round.ID, "0", time.Hour, 10); err != nil || len(young) != 0 || next != "0-0" {
			t.Errorf("took over %+v, next %s, %v", young, next, err)
		}
		var taken []game.Entry
		for from := "0"; from != "0-0"; {
			some, next, err := r.ClaimStale(ctx, round.ID, from, 0, 2)
			if err != nil || len(some) > 2 {
				t.Fatal(len(some), err)
			}
			taken, from = append(taken, some...), next
		}
		if len(taken) != 5 || taken[4].Claims[0].Drop != 5 {
			t.Errorf("took over %+v", taken)
		}
	})
}

// XGROUP DELCONSUMER drops the pending entries of a consumer, so one that has any must stay.
func TestRemoveIdleConsumersKeepsThoseWithPendingEntries(t *testing.T) {
	t.Parallel()
	onEachRedis(t, func(t *testing.T, r *fixture) {
		ctx := t.Context()
		busy := r.second(t)
		round := r.started(nil)
		r.grab(round, taps("ann1"))
		must(busy.ReadNew(ctx, round.ID, 1))(t)
		must(r.ReadNew(ctx, round.ID, 1))(t)
		r.grab(round, taps("bob1"))
		mine := must(r.ReadNew(ctx, round.ID, 1))(t)
		if err := r.Acknowledge(ctx, round.ID, idsOf(mine)...); err != nil {
			t.Fatal(err)
		}
		if gone := must(r.RemoveIdleConsumers(ctx, round.ID, time.Hour))(t); gone != 0 {
			t.Errorf("%d were removed that are not idle for long", gone)
		}
		want := 1
		if strings.Contains(t.Name(), "miniredis") {
			want = 0 // it does not know how long a consumer was silent; nobody else's can be there anyway
		}
		if gone := must(r.RemoveIdleConsumers(ctx, round.ID, 0))(t); gone != want {
			t.Errorf("%d were removed, want %d", gone, want)
		}
		if kept := must(busy.ReadPending(ctx, round.ID, "0", 10))(t); len(kept) != 1 {
			t.Errorf("kept %+v", kept)
		}
		if gone := must(r.RemoveIdleConsumers(ctx, "nothing", 0))(t); gone != 0 {
			t.Errorf("%d were removed from nothing", gone)
		}
	})
}

func TestWatermarkSaysHowFarTheOutboxIsDelivered(t *testing.T) {
	t.Parallel()
	onEachRedis(t, func(t *testing.T, r *fixture) {
		ctx := t.Context()
		round := r.started(nil)
		if mark := must(r.Watermark(ctx, round.ID))(t); !mark.Drained() || mark.Claimed.Packets != 0 || mark.Rest != 10_000 || mark.Last != "0-0" {
			t.Errorf("untouched it is %+v", mark)
		}
		r.grab(round, taps("ann1 bob1"))
		granted := must(r.Watermark(ctx, round.ID))(t)
		if granted.Drained() || granted.Claimed.Packets != 2 || granted.Claimed.Cents+granted.Rest != 10_000 || granted.Delivered != "0-0" {
			t.Errorf("granted it is %+v", granted)
		}
		first := must(r.ReadNew(ctx, round.ID, 1))(t)
		taken := must(r.Watermark(ctx, round.ID))(t)
		if taken.Drained() || taken.Pending != 1 || taken.FirstPending != first[0].ID || taken.Delivered != first[0].ID || taken.Passed(granted) {
			t.Errorf("taken it is %+v", taken)
		}
		r.grab(round, taps("cat1"))
		if err := r.Acknowledge(ctx, round.ID, first[0].ID); err != nil {
			t.Fatal(err)
		}
		if mark := must(r.Watermark(ctx, round.ID))(t); mark.Drained() || !mark.Passed(granted) || mark.Passed(mark) {
			t.Errorf("acknowledged it is %+v", mark)
		}
		r.close(round, game.Stopped)
		closed := must(r.Watermark(ctx, round.ID))(t)
		if closed.Phase != game.Closed || closed.Rest != 0 || closed.Claimed.Cents+closed.Refunded != 10_000 || closed.Claimed.Packets != 3 {
			t.Errorf("closed it is %+v", closed)
		}
		if left := closed.ExpiresAt - closed.Now; left < 29*24*3600_000 {
			t.Errorf("it expires in %d ms", left)
		}
		if _, err := r.Watermark(ctx, "nothing"); !errors.Is(err, game.ErrGone) {
			t.Errorf("of nothing: %v", err)
		}
	})
}

func TestSetFrozenPublishesOnce(t *testing.T) {
	t.Parallel()
	onEachRedis(t, func(t *testing.T, r *fixture) {
		ctx := t.Context()
		round := r.started(nil)
		r.expect(round, "ann1", game.Won)
		heard := r.redis.Subscribe(ctx, roomChannel(round.Room))
		defer heard.Close()
		if _, err := heard.Receive(ctx); err != nil {
			t.Fatal(err)
		}
		for i, frozen := range []bool{true, true, false} {
			round.Frozen, round.FreezeVersion = frozen, int64(1+i/2)
			if err := r.SetFrozen(ctx, round); err != nil {
				t.Fatal(err)
			}
			if frozen {
				r.expect(round, "ann1 bob1", game.Duplicate, game.Frozen)
			}
		}
		r.expect(round, "bob1", game.Won)
		for _, want := range []string{"round " + round.ID, "round " + round.ID, "claims " + round.ID} {
			select {
			case message := <-heard.Channel():
				if !strings.HasPrefix(message.Payload, want) {
					t.Errorf("the room heard %q, want %q", message.Payload, want)
				}
			case <-time.After(soon):
				t.Fatal("the room heard nothing")
			}
		}
		if err := r.SetFrozen(ctx, game.Round{ID: "nothing", Frozen: true}); !errors.Is(err, game.ErrGone) {
			t.Errorf("of nothing: %v", err)
		}
	})
}

// A process reads that a round is released, and sets that in Redis only after a host has frozen it again. That must not undo the freeze.
func TestAnOlderFlagDoesNotReplaceANewerOne(t *testing.T) {
	t.Parallel()
	onEachRedis(t, func(t *testing.T, r *fixture) {
		round := r.started(nil)
		for _, flag := range []struct {
			frozen  bool
			version int64
			want    bool
		}{{true, 3, true}, {false, 2, true}, {true, 3, true}, {false, 4, false}, {true, 3, false}} {
			round.Frozen, round.FreezeVersion = flag.frozen, flag.version
			if err := r.SetFrozen(t.Context(), round); err != nil {
				t.Fatal(err)
			}
			if mark, err := r.Watermark(t.Context(), round.ID); err != nil || mark.Frozen != flag.want {
				t.Errorf("after version %d it is frozen: %t (%v)", flag.version, mark.Frozen, err)
			}
		}
	})
}

func TestARoundThatWasFrozenBeforeItOpenedOpensFrozen(t *testing.T) {
	t.Parallel()
	onEachRedis(t, func(t *testing.T, r *fixture) {
		round := newRound(r.t, nil)
		round.Frozen, round.FreezeVersion = true, 1
		r.open(round)
		if mark, err := r.Watermark(t.Context(), round.ID); err != nil || !mark.Frozen || mark.FreezeVersion != 1 {
			t.Errorf("opened with flag %t of version %d (%v)", mark.Frozen, mark.FreezeVersion, err)
		}
	})
}

func TestExpireKeysOnlyShortensTTLs(t *testing.T) {
	t.Parallel()
	onEachRedis(t, func(t *testing.T, r *fixture) {
		ctx := t.Context()
		round := r.started(dealtEqual)
		r.grab(round, taps("ann1"))
		if err := r.ExpireKeys(ctx, round, time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := r.ExpireKeys(ctx, round, 48*time.Hour); err != nil {
			t.Fatal(err)
		}
		keys := r.allKeys()
		for _, key := range keys {
			if ttl := must(r.redis.TTL(ctx, key).Result())(t); ttl <= 0 || ttl > time.Hour {
				t.Errorf("%s lives for %v", key, ttl)
			}
		}
		if len(keys) != 5 {
			t.Errorf("keys are %v", keys)
		}
		if err := r.ExpireKeys(ctx, game.Round{ID: "nothing"}, time.Hour); err != nil || len(r.allKeys()) != 5 {
			t.Errorf("of nothing: %v, %v", err, r.allKeys())
		}
	})
}

func TestEntriesThatDoNotParseSayWhy(t *testing.T) {
	t.Parallel()
	onEachRedis(t, func(t *testing.T, r *fixture) {
		round := r.started(nil)
		good := map[string]any{"kind": "claims", "round": round.ID, "at": "5", "claims": "ann 1 7 1"}
		refund := map[string]any{"kind": "refund", "round": round.ID, "at": "5", "reason": "time", "claims": "1", "claimed_cents": "7", "refund_cents": "3"}
		with := func(values map[string]any, key, value string) map[string]any {
			edited := map[string]any{}
			for k, v := range values {
				edited[k] = v
			}
			if edited[key] = value; value == "" {
				delete(edited, key)
			}
			return edited
		}
		for want, values := range map[string]map[string]any{
			"of kind":          with(good, "kind", "gift"),
			"of kind \"\"":     with(good, "kind", ""),
			"of round":         with(good, "round", "another"),
			"its at":           with(good, "at", "noon"),
			"claim \"1\" of":   with(good, "claims", "ann 1"),
			"out of bounds":    with(good, "claims", "ann 1 0 1"),
			"of \"\"":          with(good, "claims", " 1 7 1"),
			"player's id":      with(good, "claims", strings.Repeat("x", 65)+" 1 7 1"),
			"claimed_cents is": with(refund, "claimed_cents", "-7"),
			"no refund_cents":  with(refund, "refund_cents", ""),
			"999 1\" of":       with(good, "claims", "ann 1 99999999999999999999 1"),
		} {
			id := must(r.redis.XAdd(t.Context(), &redis.XAddArgs{Stream: outboxKey(round.ID), Values: values}).Result())(t)
			entry := must(r.ReadNew(t.Context(), round.ID, 1))(t)[0]
			if entry.ID != id || !strings.Contains(entry.Fault, want) || entry.Claims != nil || entry.Refund != nil {
				t.Errorf("%q came as %+v", want, entry)
			}
			if again := r.ParseRaw(round.ID, id, entry.Raw); fmt.Sprint(again) != fmt.Sprint(entry) {
				t.Errorf("%q is read again as %+v", want, again)
			}
			if raw := must(r.ReadRaw(t.Context(), round.ID, id))(t); raw != entry.Raw {
				t.Errorf("%q is kept as %s", want, raw)
			}
		}
		if _, err := r.ReadRaw(t.Context(), round.ID, "1-1"); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("no entry: %v", err)
		}
		if _, err := r.ReadNew(t.Context(), "nothing", 1); !errors.Is(err, game.ErrGone) {
			t.Errorf("no outbox: %v", err)
		}
		if _, _, err := r.ClaimStale(t.Context(), "nothing", "0", 0, 1); !errors.Is(err, game.ErrGone) {
			t.Errorf("no outbox: %v", err)
		}
	})
}

// second is another client of the same Redis, as of another process.
func (r *fixture) second(t *testing.T) *fixture {
	t.Helper()
	single, ok := r.redis.(*redis.Client)
	if !ok {
		t.Fatal("not one server")
	}
	return newFixture(t, "redis://"+single.Options().Addr)
}
