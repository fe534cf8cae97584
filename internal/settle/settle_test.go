package settle_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
	"redrain/internal/settle"
	"redrain/internal/testkit"
)

func TestARoundGoesAllTheWayToSettled(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteHouse(t, url)
		round := h.opened(20)
		h.settler(settle.Options{Retention: time.Hour})
		told := append(h.grab(round, 5), h.grab(round, 7)...)
		h.await(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 12 })
		heard := h.redis.Subscribe(t.Context(), "redrain:room:"+round.Room)
		defer heard.Close()
		if _, err := heard.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.close(round, game.Stopped)
		account := h.await(round, "settled", settled)
		h.wantTold(round, told)
		if account.Refund.Cents != 2000-account.Claimed.Cents || account.Claimed != account.Booked {
			t.Errorf("the account is %+v", account)
		}
		for _, key := range must(h.redis.Keys(t.Context(), "redrain:{"+round.ID+"}*").Result())(t) {
			if ttl := must(h.redis.TTL(t.Context(), key).Result())(t); ttl <= 0 || ttl > time.Hour {
				t.Errorf("%s lives for %v", key, ttl)
			}
		}
		for range 2 { // closed, settled
			select {
			case message := <-heard.Channel():
				if message.Payload != "round "+round.ID {
					t.Errorf("the room heard %q", message.Payload)
				}
			case <-time.After(soon):
				t.Fatal("the room did not hear that the round is settled")
			}
		}
	})
}

// Case 16 of the field: what was granted before any settler ran is settled too.
func TestCase16ClaimsFromBeforeTheFirstSettlerAreSettled(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteHouse(t, url)
		round := h.opened(30)
		told := h.grabEach(round, 25)
		h.close(round, game.Stopped)
		h.settler(settle.Options{})
		h.await(round, "settled", settled)
		h.wantTold(round, told)
	})
}

// Case 15 of the field: committed, but not acknowledged. Another settler takes over what this one had; one row, one credit.
func TestCase15ASettlerThatDiesBeforeItAcknowledges(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteHouse(t, url)
		round := h.opened(20)
		told := h.grabEach(round, 10)
		_, end := h.settler(settle.Options{}, func(f *faults) {
			f.acknowledge = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		})
		h.await(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 10 })
		end()
		if pending := h.pending(round); pending != 10 {
			t.Fatalf("%d entries are not acknowledged, want 10", pending)
		}
		h.close(round, game.Stopped)
		h.settler(settle.Options{ClaimStaleAfter: 50 * time.Millisecond})
		h.await(round, "settled", settled)
		h.wantTold(round, told)
		if pending := h.pending(round); pending != 0 {
			t.Errorf("%d entries are not acknowledged", pending)
		}
	})
}

// An acknowledgement that fails, over and over, only makes the settler book the same again.
func TestAcknowledgementsThatFailAreRepeated(t *testing.T) {
	h := newSQLiteHouse(t, "redis://"+testkit.Miniredis(t).Addr())
	round := h.opened(20)
	told := h.grabEach(round, 10)
	failures := 4
	h.settler(settle.Options{}, func(f *faults) {
		f.acknowledge = func(context.Context) error {
			if failures--; failures >= 0 {
				return errors.New("redis is away")
			}
			return nil
		}
	})
	h.close(round, game.Stopped)
	h.await(round, "settled", settled)
	h.wantTold(round, told)
}

// Case 17 of the field: a malformed entry is no reason to stop.
func TestCase17AMalformedEntryIsADeadLetter(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteHouse(t, url)
		round := h.opened(20)
		told := h.grab(round, 3)
		for _, values := range []map[string]any{
			{"kind": "红包"}, {"kind": "claims", "round": round.ID, "at": "1", "claims": "ann 1 x 4"},
			{"kind": "claims", "round": "another", "at": "1", "claims": "ann 1 5 4"},
			{"kind": "claims", "round": round.ID, "at": "1", "claims": strings.Repeat("x", 65) + " 1 5 4"},
			{"kind": "refund", "round": round.ID, "at": "1", "reason": "time", "claims": "-1", "claimed_cents": "0", "refund_cents": "0"},
		} {
			if err := h.redis.XAdd(t.Context(), &redis.XAddArgs{Stream: outboxKey(round), Values: values}).Err(); err != nil {
				t.Fatal(err)
			}
		}
		told = append(told, h.grab(round, 4)...)
		settler, _ := h.settler(settle.Options{})
		h.close(round, game.Stopped)
		account := h.await(round, "settled", settled)
		h.wantTold(round, told)
		letters := must(h.books.DeadLetters(t.Context(), round.ID))(t)
		if account.DeadLetters != 5 || len(letters) != 5 || letters[0].Raw != `{"kind":"红包"}` || letters[0].Reason == "" {
			t.Errorf("dead letters are %+v", letters)
		}
		if counts := settler.Counts(); counts.DeadLetters != 5 || counts.Alarms != 0 || counts.Claims != 7 {
			t.Errorf("counted %+v", counts)
		}
	})
}

// A dead letter came first in a batch, and behind it an entry that the database refuses. The batch was tried for ever as it was,
// and nothing of the round was booked any more.
func TestADeadLetterInFrontDoesNotKeepABatch(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteHouse(t, url)
		round := h.opened(20)
		if err := h.redis.XAdd(t.Context(), &redis.XAddArgs{Stream: outboxKey(round), Values: map[string]any{"kind": "红包"}}).Err(); err != nil {
			t.Fatal(err)
		}
		told := h.grabEach(round, 3)
		h.settler(settle.Options{}, func(f *faults) {
			f.refuses = func(e game.Entry) bool { return len(e.Claims) > 0 && e.Claims[0] == told[1] }
		})
		h.await(round, "all that can be booked", func(a game.Account) bool { return a.Booked.Packets == 2 && a.DeadLetters == 2 })
		if pending := h.pending(round); pending != 0 {
			t.Errorf("%d entries are not acknowledged", pending)
		}
		h.await(round, "the freeze", frozen) // a claim that was granted is not in the books
		if reason := h.account(round).FreezeReason; reason != game.FrozenBooksDiffer {
			t.Errorf("it is frozen for %q", reason)
		}
	})
}

// An entry that should have held claims and does not parse is missing in the ledger: the round freezes. Once the entry can be
// read the host has it tried again, releases the round, and it settles.
func TestLostClaimsFreezeUntilTheyAreDrivenAgain(t *testing.T) {
	h := newSQLiteHouse(t, testkit.Redis(t).URL)
	round := h.opened(20)
	told := h.grab(round, 3)
	entries := must(h.redis.XRange(t.Context(), outboxKey(round), "-", "+").Result())(t)
	good := entries[0].Values
	if err := h.redis.XDel(t.Context(), outboxKey(round), entries[0].ID).Err(); err != nil {
		t.Fatal(err)
	}
	good["round"] = "garbled"
	if err := h.redis.XAdd(t.Context(), &redis.XAddArgs{Stream: outboxKey(round), Values: good}).Err(); err != nil {
		t.Fatal(err)
	}
	settler, _ := h.settler(settle.Options{})
	h.await(round, "the freeze", frozen)
	found := must(settler.Reconcile(t.Context(), round.ID))(t)
	if found.Agrees || found.Ledger.DeadLetters != 1 || len(found.Differences) == 0 {
		t.Errorf("reconciled %+v", found)
	}
	letter := must(h.books.DeadLetters(t.Context(), round.ID))(t)[0]
	must(h.books.ReplayDeadLetter(t.Context(), round.ID, h.pool.ParseRaw(round.ID, letter.Entry, strings.Replace(letter.Raw, "garbled", round.ID, 1))))(t)
	must(settler.Release(t.Context(), round.ID))(t)
	h.close(round, game.Stopped)
	h.await(round, "settled", settled)
	h.wantTold(round, told)
}

// Case 18 of the field: while the database is away nothing is acknowledged; afterwards the backlog drains.
func TestCase18TheDatabaseIsAway(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteHouse(t, url)
		round := h.opened(300)
		var database *faults
		h.settler(settle.Options{}, func(f *faults) { f.away.Store(true); database = f })
		told := h.grabEach(round, 100)
		testkit.Eventually(t, soon, func() error {
			if tries := database.books.Load(); tries < 4 {
				return errors.New("it has not tried often enough")
			}
			return nil
		})
		if acknowledged := 100 - h.pending(round); acknowledged > 0 && h.account(round).Booked.Packets == 0 {
			watermark := must(h.pool.Watermark(t.Context(), round.ID))(t)
			if watermark.FirstPending != must(h.redis.XRangeN(t.Context(), outboxKey(round), "-", "+", 1).Result())(t)[0].ID {
				t.Errorf("something was acknowledged without being booked: %+v", watermark)
			}
		}
		h.close(round, game.Stopped)
		database.away.Store(false)
		h.await(round, "settled", settled)
		h.wantTold(round, told)
	})
}

// Case 19 of the field: a replay that rewrites an amount freezes the round, for players too.
func TestCase19AReplayThatRewritesAnAmountFreezesTheRound(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteHouse(t, url)
		round := h.opened(20)
		told := h.grab(round, 2)
		settler, _ := h.settler(settle.Options{})
		h.await(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 2 })
		forged := map[string]any{"kind": "claims", "round": round.ID, "at": "1", "claims": told[1].Player + " 7 999999 2"}
		if err := h.redis.XAdd(t.Context(), &redis.XAddArgs{Stream: outboxKey(round), Values: forged}).Err(); err != nil {
			t.Fatal(err)
		}
		h.await(round, "the freeze", frozen)
		h.wantTold(round, told)
		tries := 0
		testkit.Eventually(t, soon, func() error { // the ledger freezes before Redis does: until then taps still win
			tries++
			late := game.Tap{Player: "late" + strconv.Itoa(tries), Drop: 7}
			grabbed, err := h.pool.Grab(t.Context(), round.Room, round.ID, h.pool.NewBatch(), []game.Tap{late})
			if err != nil {
				return err
			}
			answer := grabbed.Answers[0]
			if answer.Outcome == game.Won {
				told = append(told, game.Claim{Player: late.Player, Drop: 7, Cents: answer.Cents, Number: answer.Number})
			}
			if answer.Outcome != game.Frozen {
				return errors.New("the tap came to " + string(answer.Outcome))
			}
			return nil
		})
		if settler.Counts().Alarms == 0 {
			t.Error("no alarm was counted")
		}
		must(settler.Release(t.Context(), round.ID))(t)
		h.close(round, game.Stopped)
		h.await(round, "settled", settled)
	})
}

// Case 20 of the field: each refund goes to its own host, once, also over a restart between closing and refund.
func TestCase20EachRefundGoesToItsOwnHost(t *testing.T) {
	h := newSQLiteHouse(t, testkit.Redis(t).URL)
	other := h.newRoom()
	a, b := h.openedIn(h.room, 10, false), h.openedIn(other, 20, false)
	told := h.grab(a, 4)
	h.close(a, game.Stopped)
	h.close(b, game.Stopped)
	for range 3 { // settlers come and go
		_, end := h.settler(settle.Options{}, func(f *faults) {
			f.acknowledge = func(context.Context) error { return errors.New("redis is away") }
		})
		h.await(a, "the refund's note", func(a game.Account) bool { return a.Refund != nil })
		end()
	}
	h.settler(settle.Options{ClaimStaleAfter: 10 * time.Millisecond})
	h.await(a, "settled", settled)
	h.await(b, "settled", settled)
	h.wantTold(a, told)
	for room, claimed := range map[string]game.Cents{h.room: h.account(a).Booked.Cents, other: 0} {
		if owes := must(h.books.HostBalance(t.Context(), room))(t); owes != -claimed {
			t.Errorf("the host of %s has %d cents, want %d", room, owes, -claimed)
		}
	}
}

// Case 21 of the field: results were told, then the commit failed. It is repeated until the ledger says what was told.
func TestCase21WhatWasToldIsBookedThoughCommitsFail(t *testing.T) {
	h := newSQLiteHouse(t, testkit.Redis(t).URL)
	round := h.opened(100)
	var database *faults
	h.settler(settle.Options{}, func(f *faults) { database = f })
	var told []game.Claim
	for i := range 12 {
		database.away.Store(i%3 != 2)
		told = append(told, h.grab(round, 5)...)
	}
	database.away.Store(false)
	h.close(round, game.Stopped)
	h.await(round, "settled", settled)
	h.wantTold(round, told)
}

func TestFrozenRoundsAreNotRefunded(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteHouse(t, url)
		round := h.opened(20)
		settler, _ := h.settler(settle.Options{})
		told := h.grab(round, 3)
		for range 2 {
			if got := must(settler.Freeze(t.Context(), round.ID))(t); !got.Frozen {
				t.Error("it is not frozen")
			}
		}
		if late := h.grab(round, 3); len(late) > 0 {
			t.Errorf("%d claims were granted", len(late))
		}
		h.close(round, game.Stopped)
		account := h.await(round, "every claim and the refund's note", func(a game.Account) bool { return a.Booked.Packets == 3 && a.Refund != nil })
		if account.Refunded || account.Phase != game.Closed {
			t.Errorf("the account is %+v", account)
		}
		for range 2 {
			if got := must(settler.Release(t.Context(), round.ID))(t); got.Frozen {
				t.Error("it is frozen")
			}
		}
		h.await(round, "settled", settled)
		h.wantTold(round, told)
		if got, err := settler.Freeze(t.Context(), round.ID); !errors.Is(err, game.ErrWrongPhase) {
			t.Errorf("a settled round is frozen: %+v, %v", got, err)
		}
	})
}

// Whoever froze a round died between SQL and Redis: the settlers bring Redis to what SQL says.
func TestRedisFollowsWhatSQLSaysOfFrozen(t *testing.T) {
	h := newSQLiteHouse(t, testkit.Redis(t).URL)
	round := h.opened(20)
	h.settler(settle.Options{})
	redisSays := func(want bool) {
		t.Helper()
		testkit.Eventually(t, soon, func() error {
			mark, err := h.pool.Watermark(t.Context(), round.ID)
			if err == nil && mark.Frozen != want {
				err = errors.New("not yet")
			}
			return err
		})
	}
	must(h.books.NoteFrozen(t.Context(), round.ID, game.FrozenByHost))(t)
	redisSays(true)
	must(h.books.NoteReleased(t.Context(), round.ID, nil))(t)
	redisSays(false)
}

func TestRehearsalsSettleWithPlayMoney(t *testing.T) {
	h := newSQLiteHouse(t, testkit.Redis(t).URL)
	round := h.openedIn(h.room, 10, true)
	told := h.grab(round, 4)
	h.close(round, game.Stopped)
	h.settler(settle.Options{})
	h.await(round, "settled", settled)
	h.wantTold(round, told)
	if owes := must(h.books.HostBalance(t.Context(), h.room))(t); owes != 0 {
		t.Errorf("a rehearsal cost the host %d cents", -owes)
	}
}
