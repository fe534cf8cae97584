package settle_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/rounds"
	"redrain/internal/settle"
	"redrain/internal/testkit"
)

// Redis lost some keys of a round and kept the others: by eviction, by hand, or by a restore. While keys are missing nothing is granted:
// players could win beyond their cap, or their wins might never reach the ledger. Keys that follow from the others are restored,
// and the round goes on; otherwise it freezes, the host is told why, and ends it.
func TestEveryKeyThatRedisCanLose(t *testing.T) {
	t.Parallel()
	for _, lost := range []struct {
		keys       string
		dealt      bool
		restorable bool
	}{
		{keys: "state", restorable: true}, {keys: "claims", restorable: true}, {keys: "board", restorable: true},
		{keys: "outbox", restorable: true}, {keys: "group", restorable: true},
		{keys: "amounts", dealt: true, restorable: true}, {keys: "state amounts", dealt: true, restorable: true},
		{keys: "claims board", restorable: true}, {keys: "outbox board", restorable: true}, {keys: "state board", restorable: true},
		{keys: "claims amounts group board", dealt: true, restorable: true},
		{keys: "claims outbox"}, {keys: "state claims"}, {keys: "state outbox"}, {keys: "state claims board outbox amounts", dealt: true},
	} {
		for _, closed := range []bool{false, true} {
			name := fmt.Sprintf("%s of an open round", lost.keys)
			if closed {
				name = fmt.Sprintf("%s of a closed round", lost.keys)
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				h := newSQLiteEnv(t, testkit.Redis(t).URL)
				round := h.startRoundIn(h.room, 20, false)
				if lost.dealt {
					round = h.startDealtRound(20)
				}
				told := h.grabEach(round, 3)
				_, end := h.startSettler(settle.Options{})
				h.awaitAccount(round, "the first claims", func(a game.Account) bool { return a.Booked.Packets == 3 })
				end()
				told = append(told, h.grab(round, 4)...) // these are not booked
				if closed {
					h.close(round, game.Stopped)
				}
				h.deleteKeys(round, lost.keys)
				if lost.keys != "group" {
					h.wantNothingGranted(round)
				}
				service := h.startKeeping()
				settler, _ := h.startSettler(settle.Options{})
				switch {
				case lost.restorable:
					h.wantRestored(settler, service, round, told, closed)
				case closed && !strings.Contains(lost.keys, "outbox"): // the outbox alone has all that the ledger needs
					h.awaitAccount(round, "settled", settled)
					h.wantBooked(round, told)
					h.wantReconciled(settler, round)
				default:
					h.wantEndedByHost(settler, service, round, told)
				}
			})
		}
	}
}

// startDealtRound is startRound with a dealt split: its amounts are in a List.
func (h *env) startDealtRound(packets int) game.Round {
	h.Helper()
	s := game.DefaultSettings()
	s.Packets, s.Total, s.Cap, s.Pace, s.Countdown = packets, game.Cents(100*packets), game.MaxCap, game.PaceBurst, 0
	s.Split, s.Deal, s.Duration = game.SplitDealt, game.DealDoubleMean, game.MaxDuration
	draft := must(h.books.CreateRound(h.Context(), h.newRoom(), s, false))(h)
	round := must(h.books.Begin(h.Context(), draft.ID, game.NewSecret()))(h)
	standing := must(h.pool.Open(h.Context(), round, game.DealtAmounts(s, round.Secret)))(h)
	must(h.books.NoteOpened(h.Context(), round.ID, standing.StartsAt, standing.EndsAt))(h)
	return must(h.books.NoteRaining(h.Context(), round.ID))(h)
}

// deleteKeys deletes keys of a round, or the group of its settlers.
func (h *env) deleteKeys(round game.Round, names string) {
	h.Helper()
	for name := range strings.FieldsSeq(names) {
		var err error
		if name == "group" {
			err = h.redis.XGroupDestroy(h.Context(), outboxKey(round), "settle").Err()
		} else {
			err = h.redis.Del(h.Context(), "redrain:{"+round.ID+"}:"+name).Err()
		}
		if err != nil {
			h.Fatal(err)
		}
	}
}

// wantNothingGranted taps once and checks that nothing is won.
func (h *env) wantNothingGranted(round game.Round) {
	h.Helper()
	grabbed, err := h.pool.Grab(h.Context(), round.Room, round.ID, h.pool.NewBatch(), []game.Tap{{Player: "late", Drop: 9}})
	refused := errors.Is(err, game.ErrTorn) || errors.Is(err, game.ErrGone)
	if !refused && (err != nil || grabbed.Answers[0].Outcome == game.Won) {
		h.Errorf("a tap on a round with missing keys gets %+v, %v", grabbed.Answers, err)
	}
}

// startKeeping runs the service that closes rounds on time.
func (h *env) startKeeping() *rounds.Service {
	h.Helper()
	service := rounds.New(h.books, h.pool, rounds.Options{})
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.Context()))
	var running sync.WaitGroup
	running.Go(func() { service.Keep(ctx) })
	h.Cleanup(func() { cancel(); running.Wait() })
	return service
}

// wantRestored waits until the keys are restored, plays on, settles the round, and checks that every win is booked.
func (h *env) wantRestored(settler *settle.Settler, service *rounds.Service, round game.Round, told []game.Claim, closed bool) {
	h.Helper()
	testkit.Eventually(h, soon, func() error {
		_, err := h.pool.Watermark(h.Context(), round.ID)
		return err
	})
	if !closed {
		told = append(told, h.grab(round, 2)...)
		again := h.repeatGrab(round, told[0])
		if again.Outcome != game.Duplicate || again.Cents != told[0].Cents || again.Number != told[0].Number {
			h.Errorf("a won tap repeated gets %+v, it had won %+v", again, told[0])
		}
		must(service.Stop(h.Context(), round.ID))(h)
	}
	account := h.awaitAccount(round, "settled", settled)
	h.wantBooked(round, told)
	if account.Frozen || account.Booked.Packets != len(told) {
		h.Errorf("frozen %t (%s), booked %d of %d", account.Frozen, account.FreezeReason, account.Booked.Packets, len(told))
	}
	h.wantReconciled(settler, round)
}

func (h *env) repeatGrab(round game.Round, claim game.Claim) game.Answer {
	h.Helper()
	tap := game.Tap{Player: claim.Player, Drop: claim.Drop}
	return must(h.pool.Grab(h.Context(), round.Room, round.ID, h.pool.NewBatch(), []game.Tap{tap}))(h).Answers[0]
}

// wantEndedByHost waits for the freeze and ends the round as a host can: by a stop, which gives it up, or if it is closed by a release.
func (h *env) wantEndedByHost(settler *settle.Settler, service *rounds.Service, round game.Round, told []game.Claim) {
	h.Helper()
	account := h.awaitAccount(round, "the freeze", frozen)
	if account.FreezeReason != game.FrozenKeysLost {
		h.Errorf("it is frozen for %q", account.FreezeReason)
	}
	h.wantNothingGranted(round)
	if account.Phase.Over() {
		must(settler.Release(h.Context(), round.ID))(h)
	} else {
		must(service.Stop(h.Context(), round.ID))(h)
	}
	account = h.awaitAccount(round, "settled", settled)
	if account.Booked.Packets < 3 || account.Booked.Packets > len(told) {
		h.Errorf("%d claims are booked, players were told of %d and 3 were booked before", account.Booked.Packets, len(told))
	}
	if cost := -must(h.books.HostBalance(h.Context(), round.Room))(h); cost != account.Booked.Cents {
		h.Errorf("the round cost %d cents, booked are %d", cost, account.Booked.Cents)
	}
	h.wantBalance()
	h.wantReconciled(settler, round)
}

func (h *env) wantReconciled(settler *settle.Settler, round game.Round) {
	h.Helper()
	if found := must(settler.Reconcile(h.Context(), round.ID))(h); !found.Agrees {
		h.Errorf("reconciled %+v", found)
	}
}

// Redis loses the close of a round with its last second of writes, so the round is closed in SQL and open in Redis. Settlers close it
// again; otherwise the rest of the money would stay in escrow for ever.
func TestACloseThatRedisLostIsRepeated(t *testing.T) {
	t.Parallel()
	for name, moment := range map[string]struct{ settledBefore bool }{"before it is settled": {false}, "after it is settled": {true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			server := testkit.Redis(t, "--dir", dir, "--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0")
			h := newSQLiteEnv(t, server.URL)
			round := h.startRound(20)
			told := h.grabEach(round, 8)
			beforeClose := sizeOfAOF(t, dir)
			h.close(round, game.Stopped)
			options := settle.Options{WatchSettledFor: time.Hour}
			if moment.settledBefore {
				_, end := h.startSettler(options)
				h.awaitAccount(round, "settled", func(a game.Account) bool { return a.Phase == game.Settled })
				end()
			}
			server.Kill()
			cutAOF(t, dir, beforeClose)
			server.Restart()
			if mark := must(h.pool.Watermark(t.Context(), round.ID))(t); mark.Phase == game.Closed {
				t.Fatal("the close was not lost")
			}
			other := settle.New(asBooks(&faults{Ledger: h.books, Client: h.pool}), h.pool, settle.Options{})
			if found := must(other.Reconcile(t.Context(), round.ID))(t); found.Agrees {
				t.Errorf("reconciled %+v", found)
			}
			settler, _ := h.startSettler(options)
			testkit.Eventually(t, soon, func() error {
				mark, err := h.pool.Watermark(t.Context(), round.ID)
				if err == nil && mark.Phase != game.Closed {
					err = errors.New("redis still has the round open")
				}
				return err
			})
			account := h.awaitAccount(round, "settled", func(a game.Account) bool { return a.Phase == game.Settled })
			if late := h.grab(round, 2); len(late) > 0 {
				t.Errorf("a closed round granted %v", late)
			}
			h.wantBooked(round, told)
			if cost := -must(h.books.HostBalance(t.Context(), h.room))(t); cost != account.Booked.Cents || account.Frozen {
				t.Errorf("the round cost %d cents of %d booked, frozen: %t", cost, account.Booked.Cents, account.Frozen)
			}
			if settler.Counts().Reclosed == 0 {
				t.Error("nobody counted it")
			}
			testkit.Eventually(t, soon, func() error {
				found, err := settler.Reconcile(t.Context(), round.ID)
				if err == nil && !found.Agrees {
					err = fmt.Errorf("reconciled %+v", found)
				}
				return err
			})
		})
	}
}

// Redis has lost claims that are booked. Reconcile must report that, although all claims that Redis still has are in the ledger.
func TestReconcileReportsClaimsThatRedisLost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := testkit.Redis(t, "--dir", dir, "--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0")
	h := newSQLiteEnv(t, server.URL)
	round := h.startRound(20)
	h.grabEach(round, 3)
	before := sizeOfAOF(t, dir)
	_, end := h.startSettler(settle.Options{})
	h.grabEach(round, 4)
	h.awaitAccount(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 7 })
	end()
	server.Kill()
	cutAOF(t, dir, before)
	server.Restart()
	other := settle.New(asBooks(&faults{Ledger: h.books, Client: h.pool}), h.pool, settle.Options{})
	found := must(other.Reconcile(t.Context(), round.ID))(t)
	if found.Agrees || len(found.Differences) == 0 || found.Differences[0].What != "highest claim" {
		t.Errorf("reconciled %+v", found)
	}
}

// While nothing can be booked the lag must grow, and not stay at that of the last booking.
func TestTheLagGrowsWhileNothingCanBeBooked(t *testing.T) {
	t.Parallel()
	h := newSQLiteEnv(t, testkit.Redis(t).URL)
	round := h.startRound(20)
	f := new(*faults)
	settler, _ := h.startSettler(settle.Options{}, func(made *faults) { *f = made })
	h.grab(round, 2)
	h.awaitAccount(round, "the first claims", func(a game.Account) bool { return a.Booked.Packets == 2 })
	(*f).away.Store(true)
	h.grab(round, 2)
	testkit.Eventually(t, soon, func() error {
		if lag := settler.Counts().Lag; lag < 1500 {
			return fmt.Errorf("the lag is %d ms", lag)
		}
		return nil
	})
	(*f).away.Store(false)
	h.awaitAccount(round, "all claims", func(a game.Account) bool { return a.Booked.Packets == 4 })
}

func aofFile(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(dir + "/appendonlydir/*.incr.aof")
	if err != nil || len(files) != 1 {
		t.Fatalf("append-only files are %v, %v", files, err)
	}
	return files[0]
}

func sizeOfAOF(t *testing.T, dir string) int64 {
	t.Helper()
	file, err := os.Stat(aofFile(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	return file.Size()
}

// cutAOF truncates the append-only file to a size that it had before.
func cutAOF(t *testing.T, dir string, size int64) {
	t.Helper()
	if err := os.Truncate(aofFile(t, dir), size); err != nil {
		t.Fatal(err)
	}
}

// All keys of a round are lost, among them wins that players were told of and that are not booked. The instance that observed them
// reports, once, that claims are lost and not only keys.
func TestClaimsLostWithAllKeysAreReported(t *testing.T) {
	t.Parallel()
	h := newSQLiteEnv(t, testkit.Redis(t).URL)
	round := h.startRound(20)
	o := h.startObserver(round.Room, true)
	notices := h.collectNotices(round.Room)
	_, end := h.startSettler(settle.Options{})
	h.grabEach(round, 3)
	h.awaitAccount(round, "the first claims", func(a game.Account) bool { return a.Booked.Packets == 3 })
	end()
	h.grab(round, 4)
	o.awaitClaim(t, 7)
	service := h.startKeeping()
	h.deleteKeys(round, "state claims board outbox amounts")
	h.startSettler(settle.Options{})
	account := h.awaitAccount(round, "the alarm", func(a game.Account) bool { return a.FreezeReason == game.FrozenClaimsLost })
	if account.Highest != 7 || account.Booked.Packets != 3 {
		t.Errorf("the account is %+v", account)
	}
	testkit.Eventually(t, soon, func() error {
		if told := notices()["hosts claims_lost"]; told != 1 {
			return fmt.Errorf("hosts were told %d times: %v", told, notices())
		}
		return nil
	})
	must(service.Stop(t.Context(), round.ID))(t)
	h.awaitAccount(round, "settled", settled)
	h.wantBalance()
}
