package settle_test

import (
	"context"
	"errors"
	"fmt"
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

// Two settlers, four concurrent closes for different reasons, and grabs until the end: each of 200 rounds has one close and one
// refund, and the ledger has what players were told.
func TestConcurrentSettlersClosesAndGrabs(t *testing.T) {
	t.Parallel()
	h := newSQLiteEnv(t, testkit.Redis(t).URL)
	h.startSettler(settle.Options{})
	h.startSettler(settle.Options{})
	const races, atOnce = 200, 8
	slots := make(chan struct{}, atOnce)
	var racing sync.WaitGroup
	for range races {
		slots <- struct{}{}
		racing.Go(func() {
			defer func() { <-slots }()
			h.playRace()
		})
	}
	racing.Wait()
	h.wantBalance()
}

// playRace plays one round to its end.
func (h *env) playRace() {
	round := h.startRoundIn(h.newRoom(), 40, false)
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
			time.Sleep(rand.N(8 * time.Millisecond)) // closes come at random moments during the grabs
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
	account := h.awaitAccount(round, "settled", settled)
	var sum game.Cents
	for _, claim := range told {
		sum += claim.Cents
	}
	if account.Booked != (game.Total{Packets: len(told), Cents: sum}) || account.Refund.Cents != 4000-sum {
		h.Errorf("players were told of %d claims of %d cents, the account is %+v", len(told), sum, account)
	}
}

// A Redis whose append-only file was truncated has lost claims that are in the ledger, and would grant their numbers again. The round
// freezes, no claim is taken back, and the host never pays more than the budget.
func TestTruncatedAppendOnlyFileFreezesTheRound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := testkit.Redis(t, "--dir", dir, "--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0")
	h := newSQLiteEnv(t, server.URL)
	round := h.startRound(20)
	settler, _ := h.startSettler(settle.Options{})
	told := h.grabEach(round, 8)
	h.awaitAccount(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 8 })

	server.Kill()
	cutTail(t, dir, 0.5)
	server.Restart()
	h.awaitAccount(round, "the freeze", frozen)
	h.wantGrantsRefused(round)
	h.wantBooked(round, told)

	// The host releases the round, and numbers are granted a second time: that is another alarm, and the first claims stay.
	must(settler.Release(t.Context(), round.ID))(t)
	h.grab(round, 3)
	h.awaitAccount(round, "the next freeze", frozen)
	must(settler.Release(t.Context(), round.ID))(t)
	h.close(round, game.Stopped)
	account := h.awaitAccount(round, "settled", settled)
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

// Somebody changes the state in Redis by hand, so that it differs from the ledger.
func TestAMismatchFreezesTheRound(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteEnv(t, url)
		round := h.startRound(20)
		settler, _ := h.startSettler(settle.Options{})
		told := h.grab(round, 3)
		h.awaitAccount(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 3 })
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
		h.awaitAccount(round, "the freeze", frozen)
		found := must(settler.Reconcile(t.Context(), round.ID))(t)
		if found.Agrees || len(found.Differences) != 1 || found.Differences[0].What != "claimed_cents" {
			t.Errorf("reconciled %+v", found)
		}
		h.wantBooked(round, told)
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

// The keys of a closed round are lost before it is settled. An embedded Redis cannot bring them back: the round is settled with the
// claims in the ledger, and the rest is refunded. With another Redis it freezes, since the keys may be restored: the host decides.
func TestKeysLostBeforeARoundIsSettled(t *testing.T) {
	t.Parallel()
	for name, embedded := range map[string]bool{"embedded": true, "external": false} {
		t.Run(name, func(t *testing.T) {
			h := newSQLiteEnv(t, testkit.Redis(t).URL)
			round := h.startRound(20)
			told := h.grab(round, 3)
			_, end := h.startSettler(settle.Options{})
			h.awaitAccount(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 3 })
			end()
			h.grab(round, 2) // these are not booked
			h.close(round, game.Stopped)
			if err := h.redis.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			settler, _ := h.startSettler(settle.Options{Embedded: embedded})
			if !embedded {
				h.awaitAccount(round, "the freeze", frozen)
				must(settler.Release(t.Context(), round.ID))(t)
			}
			account := h.awaitAccount(round, "settled", settled)
			h.wantBooked(round, told)
			if account.Claimed != account.Booked {
				t.Errorf("the account is %+v", account)
			}
		})
	}
}

func TestUnsettledKeysThatNearTheirExpiryRaiseAnAlarm(t *testing.T) {
	t.Parallel()
	h := newSQLiteEnv(t, testkit.Redis(t).URL)
	h.startRound(20)
	settler, _ := h.startSettler(settle.Options{ExpiryAlarmBefore: 31 * 24 * time.Hour})
	testkit.Eventually(t, soon, func() error {
		if settler.Counts().Expiring != 1 {
			return errors.New("no alarm")
		}
		return nil
	})
}

// While claims are granted all the time, claims on their way to the ledger never raise an alarm.
func TestClaimsInFlightRaiseNoAlarm(t *testing.T) {
	t.Parallel()
	h := newSQLiteEnv(t, testkit.Redis(t).URL)
	round := h.startRound(100_000)
	settler, _ := h.startSettler(settle.Options{})
	var told []game.Claim
	for since := time.Now(); time.Since(since) < 4*time.Second && len(told) < 8000; {
		told = append(told, h.grab(round, 20)...)
	}
	testkit.Eventually(t, soon, func() error { // one call waits for a bounded time for what is in flight
		found, err := settler.Reconcile(t.Context(), round.ID)
		if err == nil && !found.Agrees {
			err = fmt.Errorf("reconciled %+v", found)
		}
		return err
	})
	h.close(round, game.Stopped)
	h.awaitAccount(round, "settled", settled)
	if got := h.account(round); got.Booked.Packets != len(told) || settler.Counts().Alarms > 0 {
		t.Errorf("told of %d claims, the account is %+v", len(told), got)
	}
}

func TestFinishSettlesClosedRounds(t *testing.T) {
	t.Parallel()
	h := newSQLiteEnv(t, "redis://"+testkit.Miniredis(t).Addr())
	rounds := []game.Round{h.startRound(20), h.startRoundIn(h.newRoom(), 20, false)}
	h.grab(rounds[0], 4)
	for _, round := range rounds {
		h.close(round, game.Interrupted)
	}
	settler, _ := h.startSettler(settle.Options{})
	if err := settler.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, round := range rounds {
		if got := h.account(round); got.Phase != game.Settled {
			t.Errorf("the account is %+v", got)
		}
	}
}

// Rounds that are open or frozen cannot be settled, but Finish waits until their claims are booked. What was not booked in time is
// returned by Unbooked.
func TestFinishWaitsForTheClaimsOfOpenAndFrozenRounds(t *testing.T) {
	t.Parallel()
	h := newSQLiteEnv(t, "redis://"+testkit.Miniredis(t).Addr())
	open, frozen, empty := h.startRound(20), h.startRoundIn(h.newRoom(), 20, false), h.startRoundIn(h.newRoom(), 20, false)
	told := map[string][]game.Claim{open.ID: h.grab(open, 4), frozen.ID: h.grabEach(frozen, 3)}
	must(h.books.NoteFrozen(t.Context(), frozen.ID, game.FrozenByHost))(t)
	var database *faults
	settler, _ := h.startSettler(settle.Options{}, func(f *faults) { f.away.Store(true); database = f })
	detector := settle.NewLossDetector(settler)
	for _, round := range []game.Round{open, frozen, empty} {
		detector.RecordGrant(round.Room, round.ID, len(told[round.ID]))
	}
	settler.Expedite()
	settler.Expedite()
	short, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err := settler.Finish(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with the database away it ended with %v", err)
	}
	unbooked := must(detector.Unbooked(t.Context()))(t)
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
	h.wantBooked(open, told[open.ID])
	h.wantBooked(frozen, told[frozen.ID])
	if unbooked := must(detector.Unbooked(t.Context()))(t); len(unbooked) != 0 {
		t.Errorf("not in the books are %+v", unbooked)
	}
}
