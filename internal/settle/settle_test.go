package settle_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
	"redrain/internal/settle"
	"redrain/internal/testkit"
)

func TestRoundIsSettledAfterItsClose(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteEnv(t, url)
		round := h.startRound(20)
		h.startSettler(settle.Options{Retention: time.Hour})
		told := append(h.grab(round, 5), h.grab(round, 7)...)
		h.awaitAccount(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 12 })
		heard := h.redis.Subscribe(t.Context(), "redrain:room:"+round.Room)
		defer heard.Close()
		if _, err := heard.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.close(round, game.Stopped)
		account := h.awaitAccount(round, "settled", settled)
		h.wantBooked(round, told)
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

func TestClaimsFromBeforeTheFirstSettlerAreSettled(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteEnv(t, url)
		round := h.startRound(30)
		told := h.grabEach(round, 25)
		h.close(round, game.Stopped)
		h.startSettler(settle.Options{})
		h.awaitAccount(round, "settled", settled)
		h.wantBooked(round, told)
	})
}

// The entries were booked and not acknowledged. Another settler claims them as stale; each claim still has one row and one credit.
func TestSettlerDiesBetweenCommitAndAcknowledgement(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteEnv(t, url)
		round := h.startRound(20)
		told := h.grabEach(round, 10)
		_, end := h.startSettler(settle.Options{}, func(f *faults) {
			f.acknowledge = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		})
		h.awaitAccount(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 10 })
		end()
		if pending := h.pending(round); pending != 10 {
			t.Fatalf("%d entries are not acknowledged, want 10", pending)
		}
		h.close(round, game.Stopped)
		h.startSettler(settle.Options{ClaimStaleAfter: 50 * time.Millisecond})
		h.awaitAccount(round, "settled", settled)
		h.wantBooked(round, told)
		if pending := h.pending(round); pending != 0 {
			t.Errorf("%d entries are not acknowledged", pending)
		}
	})
}

// While acknowledging fails the settler books the same entries again, which changes nothing.
func TestAcknowledgementsThatFailAreRepeated(t *testing.T) {
	t.Parallel()
	h := newSQLiteEnv(t, "redis://"+testkit.Miniredis(t).Addr())
	round := h.startRound(20)
	told := h.grabEach(round, 10)
	failures := 4
	h.startSettler(settle.Options{}, func(f *faults) {
		f.acknowledge = func(context.Context) error {
			if failures--; failures >= 0 {
				return errors.New("redis is away")
			}
			return nil
		}
	})
	h.close(round, game.Stopped)
	h.awaitAccount(round, "settled", settled)
	h.wantBooked(round, told)
}

// A malformed entry does not stop the settlement of the others.
func TestMalformedEntryBecomesADeadLetter(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteEnv(t, url)
		round := h.startRound(20)
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
		settler, _ := h.startSettler(settle.Options{})
		h.close(round, game.Stopped)
		account := h.awaitAccount(round, "settled", settled)
		h.wantBooked(round, told)
		letters := must(h.books.DeadLetters(t.Context(), round.ID))(t)
		if account.DeadLetters != 5 || len(letters) != 5 || letters[0].Raw != `{"kind":"红包"}` || letters[0].Reason == "" {
			t.Errorf("dead letters are %+v", letters)
		}
		if counts := settler.Counts(); counts.DeadLetters != 5 || counts.Alarms != 0 || counts.Claims != 7 {
			t.Errorf("counted %+v", counts)
		}
	})
}

// A batch with a dead letter first and then an entry that the database refuses must be split, and not be retried as a whole for
// ever.
func TestBatchOfADeadLetterAndARefusedEntryIsSplit(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteEnv(t, url)
		round := h.startRound(20)
		if err := h.redis.XAdd(t.Context(), &redis.XAddArgs{Stream: outboxKey(round), Values: map[string]any{"kind": "红包"}}).Err(); err != nil {
			t.Fatal(err)
		}
		told := h.grabEach(round, 3)
		h.startSettler(settle.Options{}, func(f *faults) {
			f.refuses = func(e game.Entry) bool { return len(e.Claims) > 0 && e.Claims[0] == told[1] }
		})
		h.awaitAccount(round, "all that can be booked", func(a game.Account) bool { return a.Booked.Packets == 2 && a.DeadLetters == 2 })
		testkit.Eventually(t, soon, func() error { // entries are acknowledged after they are booked
			if pending := h.pending(round); pending != 0 {
				return fmt.Errorf("%d entries are not acknowledged", pending)
			}
			return nil
		})
		h.awaitAccount(round, "the freeze", frozen) // a claim that was granted is not in the books
		if reason := h.account(round).FreezeReason; reason != game.FrozenBooksDiffer {
			t.Errorf("it is frozen for %q", reason)
		}
	})
}

// The claims of an entry that does not parse are missing in the ledger, so the round freezes. Once the entry has been repaired and
// replayed, and the host has released the round, it settles.
func TestDeadLetterOfClaimsFreezesUntilItIsReplayed(t *testing.T) {
	t.Parallel()
	h := newSQLiteEnv(t, testkit.Redis(t).URL)
	round := h.startRound(20)
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
	settler, _ := h.startSettler(settle.Options{})
	h.awaitAccount(round, "the freeze", frozen)
	found := must(settler.Reconcile(t.Context(), round.ID))(t)
	if found.Agrees || found.Ledger.DeadLetters != 1 || len(found.Differences) == 0 {
		t.Errorf("reconciled %+v", found)
	}
	letter := must(h.books.DeadLetters(t.Context(), round.ID))(t)[0]
	must(h.books.ReplayDeadLetter(t.Context(), round.ID, h.pool.ParseRaw(round.ID, letter.Entry, strings.Replace(letter.Raw, "garbled", round.ID, 1))))(t)
	must(settler.Release(t.Context(), round.ID))(t)
	h.close(round, game.Stopped)
	h.awaitAccount(round, "settled", settled)
	h.wantBooked(round, told)
}

// While the database is down nothing is acknowledged; afterwards the backlog is booked.
func TestNothingIsAcknowledgedWhileTheDatabaseIsDown(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteEnv(t, url)
		round := h.startRound(300)
		var database *faults
		h.startSettler(settle.Options{}, func(f *faults) { f.away.Store(true); database = f })
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
		h.awaitAccount(round, "settled", settled)
		h.wantBooked(round, told)
	})
}

// An entry with another amount for a claim that is booked already freezes the round, for players too.
func TestEntryThatChangesABookedAmountFreezesTheRound(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteEnv(t, url)
		round := h.startRound(20)
		told := h.grab(round, 2)
		settler, _ := h.startSettler(settle.Options{})
		h.awaitAccount(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 2 })
		forged := map[string]any{"kind": "claims", "round": round.ID, "at": "1", "claims": told[1].Player + " 7 999999 2"}
		if err := h.redis.XAdd(t.Context(), &redis.XAddArgs{Stream: outboxKey(round), Values: forged}).Err(); err != nil {
			t.Fatal(err)
		}
		h.awaitAccount(round, "the freeze", frozen)
		h.wantBooked(round, told)
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
		h.awaitAccount(round, "settled", settled)
	})
}

// Each refund goes to the round's own host, once, although settlers restart between close and refund.
func TestEachRefundGoesToItsOwnHost(t *testing.T) {
	t.Parallel()
	h := newSQLiteEnv(t, testkit.Redis(t).URL)
	other := h.newRoom()
	a, b := h.startRoundIn(h.room, 10, false), h.startRoundIn(other, 20, false)
	told := h.grab(a, 4)
	h.close(a, game.Stopped)
	h.close(b, game.Stopped)
	for range 3 { // settlers come and go
		_, end := h.startSettler(settle.Options{}, func(f *faults) {
			f.acknowledge = func(context.Context) error { return errors.New("redis is away") }
		})
		h.awaitAccount(a, "the refund's note", func(a game.Account) bool { return a.Refund != nil })
		end()
	}
	h.startSettler(settle.Options{ClaimStaleAfter: 10 * time.Millisecond})
	h.awaitAccount(a, "settled", settled)
	h.awaitAccount(b, "settled", settled)
	h.wantBooked(a, told)
	for room, claimed := range map[string]game.Cents{h.room: h.account(a).Booked.Cents, other: 0} {
		if owes := must(h.books.HostBalance(t.Context(), room))(t); owes != -claimed {
			t.Errorf("the host of %s has %d cents, want %d", room, owes, -claimed)
		}
	}
}

// Players are told their results, then the transaction fails. It is retried until the ledger has what they were told.
func TestClaimsAreBookedThoughTransactionsFail(t *testing.T) {
	t.Parallel()
	h := newSQLiteEnv(t, testkit.Redis(t).URL)
	round := h.startRound(100)
	var database *faults
	h.startSettler(settle.Options{}, func(f *faults) { database = f })
	var told []game.Claim
	for i := range 12 {
		database.away.Store(i%3 != 2)
		told = append(told, h.grab(round, 5)...)
	}
	database.away.Store(false)
	h.close(round, game.Stopped)
	h.awaitAccount(round, "settled", settled)
	h.wantBooked(round, told)
}

func TestFrozenRoundsAreNotRefunded(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteEnv(t, url)
		round := h.startRound(20)
		settler, _ := h.startSettler(settle.Options{})
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
		account := h.awaitAccount(round, "every claim and the refund's note", func(a game.Account) bool { return a.Booked.Packets == 3 && a.Refund != nil })
		if account.Refunded || account.Phase != game.Closed {
			t.Errorf("the account is %+v", account)
		}
		for range 2 {
			if got := must(settler.Release(t.Context(), round.ID))(t); got.Frozen {
				t.Error("it is frozen")
			}
		}
		h.awaitAccount(round, "settled", settled)
		h.wantBooked(round, told)
		if got, err := settler.Freeze(t.Context(), round.ID); !errors.Is(err, game.ErrWrongPhase) {
			t.Errorf("a settled round is frozen: %+v, %v", got, err)
		}
	})
}

// A process died after it had frozen or released a round in SQL and before it did so in Redis: settlers do it.
func TestSettlersBringTheFrozenFlagFromSQLToRedis(t *testing.T) {
	t.Parallel()
	h := newSQLiteEnv(t, testkit.Redis(t).URL)
	round := h.startRound(20)
	h.startSettler(settle.Options{})
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
	t.Parallel()
	h := newSQLiteEnv(t, testkit.Redis(t).URL)
	round := h.startRoundIn(h.room, 10, true)
	told := h.grab(round, 4)
	h.close(round, game.Stopped)
	h.startSettler(settle.Options{})
	h.awaitAccount(round, "settled", settled)
	h.wantBooked(round, told)
	if owes := must(h.books.HostBalance(t.Context(), h.room))(t); owes != 0 {
		t.Errorf("a rehearsal cost the host %d cents", -owes)
	}
}
