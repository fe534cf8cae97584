package settle_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/settle"
	"redrain/internal/testkit"
)

// Two settlers, four closers for different reasons, and grabs until the last millisecond: one close, one refund, and the
// ledger is what players were told. 200 times.
func TestTwoSettlersAndFourClosersRaceAStorm(t *testing.T) {
	h := newSQLiteHouse(t, testkit.Redis(t).URL)
	h.settler(settle.Options{})
	h.settler(settle.Options{})
	const races, atOnce = 200, 8
	lanes := make(chan struct{}, atOnce)
	var racing sync.WaitGroup
	for range races {
		lanes <- struct{}{}
		racing.Go(func() {
			defer func() { <-lanes }()
			h.race()
		})
	}
	racing.Wait()
	h.wantBalance()
}

// race plays one round to its end.
func (h *house) race() {
	round := h.openedIn(h.newRoom(), 40, false)
	var mu sync.Mutex
	var told []game.Claim
	var playing sync.WaitGroup
	for range 6 {
		playing.Go(func() {
			for range 8 {
				won := h.grab(round, 1+rand.IntN(3))
				mu.Lock()
				told = append(told, won...)
				mu.Unlock()
			}
		})
	}
	for _, reason := range []game.CloseReason{game.Stopped, game.BySoldOut, game.Interrupted, game.Stopped} {
		playing.Go(func() {
			time.Sleep(rand.N(8 * time.Millisecond)) // when a closer comes is what the race is about
			standing, err := h.pool.Close(h.Context(), round, reason)
			if err != nil && !errors.Is(err, game.ErrNotYet) {
				h.Error(err)
			}
			if err == nil {
				claimed := game.Total{Packets: 40 - standing.Left.Packets, Cents: 4000 - standing.Left.Cents}
				if _, err := h.books.NoteClosed(h.Context(), round.ID, standing.Reason, claimed); err != nil {
					h.Error(err)
				}
			}
		})
	}
	playing.Wait()
	account := h.await(round, "settled", settled)
	var sum game.Cents
	for _, claim := range told {
		sum += claim.Cents
	}
	if account.Booked != (game.Total{Packets: len(told), Cents: sum}) || account.Refund.Cents != 4000-sum {
		h.Errorf("players were told of %d claims of %d cents, the account is %+v", len(told), sum, account)
	}
}

// A Redis whose append-only file lost its tail has forgotten claims that are in the ledger, and would grant their numbers
// anew. The round freezes; nobody's claim is taken back; and the host never pays more than the budget.
func TestAnAppendOnlyFileThatLostItsTail(t *testing.T) {
	dir := t.TempDir()
	server := testkit.Redis(t, "--dir", dir, "--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0")
	h := newSQLiteHouse(t, server.URL)
	round := h.opened(20)
	settler, _ := h.settler(settle.Options{})
	told := h.grabEach(round, 8)
	h.await(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 8 })

	server.Kill()
	cutTail(t, dir, 0.5)
	server.Restart()
	h.await(round, "the freeze", frozen)
	h.wantShut(round)
	h.wantTold(round, told)

	// The host looks, lets it go on, and numbers are granted a second time: that is an alarm again, and the first stay.
	must(settler.Release(t.Context(), round.ID))(t)
	h.grab(round, 3)
	h.await(round, "the next freeze", frozen)
	must(settler.Release(t.Context(), round.ID))(t)
	h.close(round, game.Stopped)
	account := h.await(round, "settled", settled)
	h.wantBalance()
	held := must(h.books.Claims(t.Context(), round.ID, 0, 100))(t)
	for i, claim := range told {
		if i >= len(held) || held[i] != claim {
			t.Errorf("claim %+v was taken back", claim)
		}
	}
	if cost := -must(h.books.HostBalance(t.Context(), h.room))(t); cost != account.Booked.Cents || cost > round.Settings.Total {
		t.Errorf("the round cost %d cents of %d, booked are %d", cost, round.Settings.Total, account.Booked.Cents)
	}
	found := must(settler.Reconcile(t.Context(), round.ID))(t)
	if !found.Agrees || len(must(h.books.Quarantined(t.Context(), round.ID))(t)) == 0 {
		t.Errorf("reconciled %+v", found)
	}
}

// cutTail cuts a share off the newest append-only file's commands, as a crash of the machine would.
func cutTail(t *testing.T, dir string, share float64) {
	t.Helper()
	files, err := filepath.Glob(dir + "/appendonlydir/*.incr.aof")
	if err != nil || len(files) != 1 {
		t.Fatalf("append-only files are %v, %v", files, err)
	}
	whole, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(files[0], int64(float64(whole.Size())*share)); err != nil {
		t.Fatal(err)
	}
}

// Somebody meddles with Redis: claims and rest are no longer what the ledger holds.
func TestAMismatchFreezesTheRound(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteHouse(t, url)
		round := h.opened(20)
		settler, _ := h.settler(settle.Options{})
		told := h.grab(round, 3)
		h.await(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 3 })
		if found := must(settler.Reconcile(t.Context(), round.ID))(t); !found.Agrees || found.Redis.Claims != 3 {
			t.Errorf("reconciled %+v", found)
		}
		heard := h.redis.Subscribe(t.Context(), "redrain:room:"+round.Room)
		defer heard.Close()
		if _, err := heard.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := h.redis.HIncrBy(t.Context(), stateKey(round), "rest", -5).Err(); err != nil {
			t.Fatal(err)
		}
		h.await(round, "the freeze", frozen)
		found := must(settler.Reconcile(t.Context(), round.ID))(t)
		if found.Agrees || len(found.Differences) != 1 || found.Differences[0].What != "claimed_cents" {
			t.Errorf("reconciled %+v", found)
		}
		h.wantTold(round, told)
		deadline := time.After(soon)
		for noticed := false; !noticed; {
			select {
			case message := <-heard.Channel():
				noticed = len(message.Payload) > 7 && message.Payload[:7] == "notice "
			case <-deadline:
				t.Fatal("nobody was told")
			}
		}
	})
}

// Keys of a closed round are gone before it was settled. An embedded Redis lost them with its process: the ledger's claims
// stay, the rest goes back. Another Redis may come back with them: the host decides.
func TestKeysAreGoneBeforeARoundIsSettled(t *testing.T) {
	for name, embedded := range map[string]bool{"embedded": true, "external": false} {
		t.Run(name, func(t *testing.T) {
			h := newSQLiteHouse(t, testkit.Redis(t).URL)
			round := h.opened(20)
			told := h.grab(round, 3)
			_, end := h.settler(settle.Options{})
			h.await(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 3 })
			end()
			h.grab(round, 2) // nobody settles these
			h.close(round, game.Stopped)
			if err := h.redis.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			settler, _ := h.settler(settle.Options{Embedded: embedded})
			if !embedded {
				h.await(round, "the freeze", frozen)
				must(settler.Release(t.Context(), round.ID))(t)
			}
			account := h.await(round, "settled", settled)
			h.wantTold(round, told)
			if account.Claimed != account.Booked {
				t.Errorf("the account is %+v", account)
			}
		})
	}
}

func TestUnsettledKeysThatNearTheirExpiryRaiseAnAlarm(t *testing.T) {
	h := newSQLiteHouse(t, testkit.Redis(t).URL)
	h.opened(20)
	settler, _ := h.settler(settle.Options{ExpiryAlarmBefore: 31 * 24 * time.Hour})
	testkit.Eventually(t, soon, func() error {
		if settler.Counts().Expiring != 1 {
			return errors.New("no alarm")
		}
		return nil
	})
}

// While claims are granted all the time, nothing in flight looks like a fault.
func TestNothingInFlightLooksLikeAFault(t *testing.T) {
	h := newSQLiteHouse(t, testkit.Redis(t).URL)
	round := h.opened(100_000)
	settler, _ := h.settler(settle.Options{})
	var told []game.Claim
	for since := time.Now(); time.Since(since) < 4*time.Second && len(told) < 8000; {
		told = append(told, h.grab(round, 20)...)
	}
	if found := must(settler.Reconcile(t.Context(), round.ID))(t); !found.Agrees {
		t.Errorf("reconciled %+v", found)
	}
	h.close(round, game.Stopped)
	h.await(round, "settled", settled)
	if got := h.account(round); got.Booked.Packets != len(told) || settler.Counts().Alarms > 0 {
		t.Errorf("told of %d claims, the account is %+v", len(told), got)
	}
}

func TestASettlerThatIsToldToFinishDoes(t *testing.T) {
	h := newSQLiteHouse(t, "redis://"+testkit.Miniredis(t).Addr())
	rounds := []game.Round{h.opened(20), h.openedIn(h.newRoom(), 20, false)}
	h.grab(rounds[0], 4)
	for _, round := range rounds {
		h.close(round, game.Interrupted)
	}
	settler, _ := h.settler(settle.Options{})
	if err := settler.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, round := range rounds {
		if got := h.account(round); got.Phase != game.Settled {
			t.Errorf("the account is %+v", got)
		}
	}
}

// A round that cannot be settled, because it is open or frozen, has claims all the same: Finish waits for them, works without
// rests, and what it could not bring into the books in time is told.
func TestFinishWaitsForTheClaimsOfOpenAndFrozenRounds(t *testing.T) {
	h := newSQLiteHouse(t, "redis://"+testkit.Miniredis(t).Addr())
	open, frozen, empty := h.opened(20), h.openedIn(h.newRoom(), 20, false), h.openedIn(h.newRoom(), 20, false)
	told := map[string][]game.Claim{open.ID: h.grab(open, 4), frozen.ID: h.grabEach(frozen, 3)}
	must(h.books.NoteFrozen(t.Context(), frozen.ID, game.FrozenByHost))(t)
	var database *faults
	settler, _ := h.settler(settle.Options{}, func(f *faults) { f.away.Store(true); database = f })
	witness := settle.NewLossDetector(settler)
	for _, round := range []game.Round{open, frozen, empty} {
		witness.RecordGrant(round.Room, round.ID, len(told[round.ID]))
	}
	settler.Expedite()
	settler.Expedite()
	short, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err := settler.Finish(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with the database away it ended with %v", err)
	}
	unbooked := must(witness.Unbooked(t.Context()))(t)
	if len(unbooked) != 2 {
		t.Errorf("not in the books are %+v", unbooked)
	}
	for _, u := range unbooked {
		sum := game.Total{Packets: len(told[u.Round])}
		for _, claim := range told[u.Round] {
			sum.Cents += claim.Cents
		}
		if u.Left != sum {
			t.Errorf("not in the books are %+v, want %+v", u, sum)
		}
	}
	database.away.Store(false)
	if err := settler.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.wantTold(open, told[open.ID])
	h.wantTold(frozen, told[frozen.ID])
	if unbooked := must(witness.Unbooked(t.Context()))(t); len(unbooked) != 0 {
		t.Errorf("not in the books are %+v", unbooked)
	}
}
