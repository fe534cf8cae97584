package rounds_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/rounds"
)

// A round does not depend on the host's page or the instance that started it: any instance closes it, on time to the millisecond.
func TestAnotherInstanceClosesTheRoundOfADeadOne(t *testing.T) {
	withEnv(t, func(h *env) {
		first, second := h.addInstance(rounds.Options{}), h.addInstance(rounds.Options{})
		id := h.draft()
		page, closePage := context.WithCancel(h.Context())
		round := h.must(first.Start(page, id))
		closePage()
		h.sleepUntil(round.StartsAt + 15_000)
		first.die()
		h.pool.claim(id, 3)
		h.sleepUntil(round.EndsAt)
		h.expectClosed(id, game.ByTime, round.EndsAt)
		second.die()
	})
}

// The only instance dies. One that starts before the round's end closes it on time, one that starts later closes it at once.
func TestNextInstanceClosesTheRound(t *testing.T) {
	for name, after := range map[string]time.Duration{"before its end": time.Second, "after its end": time.Hour} {
		t.Run(name, func(t *testing.T) {
			withEnv(t, func(h *env) {
				first := h.addInstance(rounds.Options{})
				id := h.draft()
				round := h.must(first.Start(h.Context(), id))
				first.die()
				h.sleep(after)
				due := max(round.EndsAt, h.pool.Now())
				h.addInstance(rounds.Options{})
				h.sleepUntil(due + 100) // migrating waits a few ms
				keys, _ := h.pool.read(id)
				if late := keys.closedAt - due; late < 0 || late > 100 {
					h.Errorf("the round closed %d ms after it was due", late)
				}
				h.expectClosed(id, game.ByTime, keys.closedAt)
			})
		})
	}
}

func TestManyInstancesEndARoundOnce(t *testing.T) {
	withEnv(t, func(h *env) {
		var last *instance
		for range 5 {
			last = h.addInstance(rounds.Options{})
		}
		id := h.draft()
		round := h.must(last.Start(h.Context(), id))
		h.sleepUntil(round.EndsAt)
		h.expectClosed(id, game.ByTime, round.EndsAt)
	})
}

// Redis is down for a minute around the end of the round. The round closes within 2 s after it is back, and meanwhile retries are not
// too frequent.
func TestRedisIsAwayWhenTheRoundEnds(t *testing.T) {
	withEnv(t, func(h *env) {
		i := h.addInstance(rounds.Options{})
		id := h.draft()
		round := h.must(i.Start(h.Context(), id))
		h.sleepUntil(round.EndsAt - 500)
		h.pool.setAway(true)
		var before, after int
		h.pool.change(func() { before = h.pool.calls })
		h.sleep(time.Minute)
		h.pool.change(func() { after = h.pool.calls })
		if tries := after - before; tries < 20 || tries > 75 {
			h.Errorf("redis was tried %d times in the minute that it was away", tries)
		}
		h.pool.setAway(false)
		back := h.pool.Now()
		h.sleep(2100 * time.Millisecond)
		keys, _ := h.pool.read(id)
		if keys.closedAt-back > 2000 {
			h.Errorf("the round closed %d ms after redis came back", keys.closedAt-back)
		}
		h.expectClosed(id, game.ByTime, keys.closedAt)
	})
}

// SQL is down around the end of the round. Redis still closes it on time, and SQL follows later.
func TestSQLIsAwayWhenTheRoundEnds(t *testing.T) {
	withEnv(t, func(h *env) {
		i := h.addInstance(rounds.Options{})
		id := h.draft()
		round := h.must(i.Start(h.Context(), id))
		h.sleepUntil(round.StartsAt + 1000)
		i.books.setAway(true)
		h.pool.claim(id, 7)
		h.sleepUntil(round.EndsAt + 20_000)
		if got := h.readBooks(id); got.Phase != game.Raining {
			h.Errorf("the books, though away, have the round in %s", got.Phase)
		}
		i.books.setAway(false)
		h.sleep(2100 * time.Millisecond)
		h.expectClosed(id, game.ByTime, round.EndsAt)
	})
}

// One round's calls hang, another's panic, a third cannot be opened. The fourth ends on time, and so do the others later.
func TestABadRoundDoesNotStopTheOthers(t *testing.T) {
	withEnv(t, func(h *env) {
		i := h.addInstance(rounds.Options{})
		var ids []string
		for range 4 {
			id := h.draftIn(h.newRoom())
			h.must(i.Start(h.Context(), id))
			ids = append(ids, id)
		}
		good := ids[3]
		h.sleep(5 * time.Second)
		h.pool.change(func() {
			h.pool.hangs[ids[0]], h.pool.panics[ids[1]] = true, true
			delete(h.pool.keys, ids[2])
		})
		end := h.readBooks(good).EndsAt
		h.sleepUntil(end)
		h.expectClosed(good, game.ByTime, end)
		h.pool.change(func() { clear(h.pool.hangs); clear(h.pool.panics) })
		h.sleep(10 * time.Second)
		for _, id := range ids[:2] {
			if got := h.readBooks(id); got.Reason != game.ByTime {
				h.Errorf("a round that was bad for a while is in %s", got.Phase)
			}
		}
	})
}

func TestKeysGoneFromAnEmbeddedRedisInterruptTheRound(t *testing.T) {
	for name, known := range map[string]int{"nothing known": 0, "claims known": 12} {
		t.Run(name, func(t *testing.T) {
			withEnv(t, func(h *env) {
				i := h.addInstance(rounds.Options{Embedded: true})
				id := h.draft()
				round := h.must(i.Start(h.Context(), id))
				h.sleepUntil(round.StartsAt + 1000)
				h.pool.claim(id, known)
				h.sleep(1500 * time.Millisecond)
				h.pool.change(func() { delete(h.pool.keys, id) })
				h.sleep(time.Second)
				got := h.readBooks(id)
				if got.Phase != game.Closed || got.Reason != game.Interrupted || got.Claimed.Packets != known {
					h.Errorf("the round is in %s (%s) with %d claims", got.Phase, got.Reason, got.Claimed.Packets)
				}
				h.must(i.Start(h.Context(), h.draft())) // the room is free
			})
		})
	}
}

// Keys lost from an external Redis may come back with it: the round is frozen with an error in the log, and keeps its room occupied
// until the host gives it up.
func TestKeysGoneFromARealRedisFreezeTheRound(t *testing.T) {
	withEnv(t, func(h *env) {
		i := h.addInstance(rounds.Options{})
		id := h.draft()
		round := h.must(i.Start(h.Context(), id))
		h.sleepUntil(round.StartsAt + 1000)
		h.pool.change(func() { delete(h.pool.keys, id) })
		h.sleep(time.Second)
		if got := h.readBooks(id); !got.Frozen || got.Phase != game.Raining {
			h.Fatalf("the round is in %s, frozen: %t", got.Phase, got.Frozen)
		}
		if log := h.log.String(); strings.Count(log, "round is frozen") != 1 || !strings.Contains(log, `"level":"ERROR"`) {
			h.Errorf("no one loud line in the log: %s", log)
		}
		var before, after int
		h.pool.change(func() { before = h.pool.calls })
		h.sleep(time.Minute)
		h.pool.change(func() { after = h.pool.calls })
		if got := h.readBooks(id); after != before || got.Phase != game.Raining {
			h.Errorf("a frozen round was asked for %d times and is in %s", after-before, got.Phase)
		}
		if got := h.must(i.Stop(h.Context(), id)); got.Phase != game.Closed || got.Reason != game.Interrupted || got.Frozen {
			h.Errorf("given up, the round is in %s (%s), frozen: %t", got.Phase, got.Reason, got.Frozen)
		}
	})
}

// Redis has claims but no state when a start is repeated: opening the round again could pay twice.
func TestARoundWithTornKeysIsFrozen(t *testing.T) {
	withEnv(t, func(h *env) {
		id := h.draft()
		h.must(h.book.Begin(h.Context(), id, game.NewSecret()))
		h.pool.change(func() { h.pool.torn[id] = true })
		i := h.addInstance(rounds.Options{})
		h.sleep(time.Second)
		if got := h.readBooks(id); !got.Frozen {
			h.Fatalf("the round is in %s, not frozen", got.Phase)
		}
		if got := h.must(i.Stop(h.Context(), id)); got.Reason != game.Interrupted {
			h.Errorf("given up, the round is in %s (%s)", got.Phase, got.Reason)
		}
	})
}

func TestTheSecretIsInNoLog(t *testing.T) {
	withEnv(t, func(h *env) {
		i := h.addInstance(rounds.Options{})
		id := h.draft()
		h.pool.setAway(true)
		_, _ = i.Start(h.Context(), id)
		h.sleep(time.Second)
		h.pool.setAway(false)
		h.sleep(3 * time.Second)
		h.pool.change(func() { h.pool.panics[id] = true })
		h.sleep(3 * time.Second)
		h.pool.change(func() { clear(h.pool.panics); delete(h.pool.keys, id) })
		h.sleep(3 * time.Second)
		round, log := h.readBooks(id), h.log.String()
		for _, line := range []string{"cannot keep a round", "round is open", "panic", "round is frozen"} {
			if !strings.Contains(log, line) {
				h.Errorf("the log lacks %q, so this test shows nothing", line)
			}
		}
		if round.Secret == "" || strings.Contains(log, string(round.Secret)) {
			h.Error("the log holds the secret")
		}
	})
}
