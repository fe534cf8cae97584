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

// Redis lost one key of a round and kept the others: by eviction, by hand, by a restore. Elsewhere players then won again over
// their cap, and wins missed the books without a word. Here nothing is granted while keys do not fit together. What the other keys
// still say is made anew, and the round goes on; else it is frozen, the host is told why, and ends it with a click.
func TestEveryKeyThatRedisCanLose(t *testing.T) {
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
				h := newSQLiteHouse(t, testkit.Redis(t).URL)
				round := h.openedIn(h.room, 20, false)
				if lost.dealt {
					round = h.openedDealt(20)
				}
				told := h.grabEach(round, 3)
				_, end := h.settler(settle.Options{})
				h.await(round, "the first claims", func(a game.Account) bool { return a.Booked.Packets == 3 })
				end()
				told = append(told, h.grab(round, 4)...) // these are not in the books
				if closed {
					h.close(round, game.Stopped)
				}
				h.lose(round, lost.keys)
				if lost.keys != "group" {
					h.wantNothingGranted(round)
				}
				service := h.keeper()
				settler, _ := h.settler(settle.Options{})
				switch {
				case lost.restorable:
					h.wantRestored(settler, service, round, told, closed)
				case closed && !strings.Contains(lost.keys, "outbox"): // which holds all that the books need
					h.await(round, "settled", settled)
					h.wantTold(round, told)
					h.wantAgreement(settler, round)
				default:
					h.wantEndedByHost(settler, service, round, told)
				}
			})
		}
	}
}

// openedDealt is opened with amounts in a List.
func (h *house) openedDealt(packets int) game.Round {
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

// lose deletes keys of a round, or the group of its settlers.
func (h *house) lose(round game.Round, names string) {
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

// wantNothingGranted taps, and must hear that nothing was done.
func (h *house) wantNothingGranted(round game.Round) {
	h.Helper()
	grabbed, err := h.pool.Grab(h.Context(), round.Room, round.ID, h.pool.NewBatch(), []game.Tap{{Player: "late", Drop: 9}})
	refused := errors.Is(err, game.ErrTorn) || errors.Is(err, game.ErrGone)
	if !refused && (err != nil || grabbed.Answers[0].Outcome == game.Won) {
		h.Errorf("a tap on a round with missing keys hears %+v, %v", grabbed.Answers, err)
	}
}

// keeper starts what keeps rounds.
func (h *house) keeper() *rounds.Service {
	h.Helper()
	service := rounds.New(h.books, h.pool, rounds.Options{})
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.Context()))
	var running sync.WaitGroup
	running.Go(func() { service.Keep(ctx) })
	h.Cleanup(func() { cancel(); running.Wait() })
	return service
}

// wantRestored waits until the round goes on by itself, plays on, and finds every win in the books.
func (h *house) wantRestored(settler *settle.Settler, service *rounds.Service, round game.Round, told []game.Claim, closed bool) {
	h.Helper()
	testkit.Eventually(h, soon, func() error {
		_, err := h.pool.Watermark(h.Context(), round.ID)
		return err
	})
	if !closed {
		told = append(told, h.grab(round, 2)...)
		again := h.grabAgain(round, told[0])
		if again.Outcome != game.Duplicate || again.Cents != told[0].Cents || again.Number != told[0].Number {
			h.Errorf("a won tap repeated hears %+v, it had won %+v", again, told[0])
		}
		must(service.Stop(h.Context(), round.ID))(h)
	}
	account := h.await(round, "settled", settled)
	h.wantTold(round, told)
	if account.Frozen || account.Booked.Packets != len(told) {
		h.Errorf("frozen %t (%s), booked %d of %d", account.Frozen, account.FreezeReason, account.Booked.Packets, len(told))
	}
	h.wantAgreement(settler, round)
}

func (h *house) grabAgain(round game.Round, claim game.Claim) game.Answer {
	h.Helper()
	tap := game.Tap{Player: claim.Player, Drop: claim.Drop}
	return must(h.pool.Grab(h.Context(), round.Room, round.ID, h.pool.NewBatch(), []game.Tap{tap}))(h).Answers[0]
}

// wantEndedByHost waits for the freeze, and does what a host can: stop the round to give it up, or, once closed, release it.
func (h *house) wantEndedByHost(settler *settle.Settler, service *rounds.Service, round game.Round, told []game.Claim) {
	h.Helper()
	account := h.await(round, "the freeze", frozen)
	if account.FreezeReason != game.FrozenKeysLost {
		h.Errorf("it is frozen for %q", account.FreezeReason)
	}
	h.wantNothingGranted(round)
	if account.Phase.Over() {
		must(settler.Release(h.Context(), round.ID))(h)
	} else {
		must(service.Stop(h.Context(), round.ID))(h)
	}
	account = h.await(round, "settled", settled)
	if account.Booked.Packets < 3 || account.Booked.Packets > len(told) {
		h.Errorf("%d claims are booked, players were told of %d and 3 were booked before", account.Booked.Packets, len(told))
	}
	if cost := -must(h.books.HostBalance(h.Context(), round.Room))(h); cost != account.Booked.Cents {
		h.Errorf("the round cost %d cents, booked are %d", cost, account.Booked.Cents)
	}
	h.wantBalance()
	h.wantAgreement(settler, round)
}

func (h *house) wantAgreement(settler *settle.Settler, round game.Round) {
	h.Helper()
	if found := must(settler.Reconcile(h.Context(), round.ID))(h); !found.Agrees {
		h.Errorf("reconciled %+v", found)
	}
}

// A close that Redis lost with its last second kept the rest of the money in escrow for good: SQL said closed, Redis open, and
// nobody looked. Stopping again changed nothing, and reconciling found nothing.
func TestACloseThatRedisLostIsRepeated(t *testing.T) {
	for name, moment := range map[string]struct{ settledBefore bool }{"before it is settled": {false}, "after it is settled": {true}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			server := testkit.Redis(t, "--dir", dir, "--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0")
			h := newSQLiteHouse(t, server.URL)
			round := h.opened(20)
			told := h.grabEach(round, 8)
			beforeClose := sizeOfAOF(t, dir)
			h.close(round, game.Stopped)
			options := settle.Options{WatchSettledFor: time.Hour}
			if moment.settledBefore {
				_, end := h.settler(options)
				h.await(round, "settled", func(a game.Account) bool { return a.Phase == game.Settled })
				end()
			}
			server.Kill()
			cutAOF(t, dir, beforeClose)
			server.Restart()
			if mark := must(h.pool.Watermark(t.Context(), round.ID))(t); mark.Phase == game.Closed {
				t.Fatal("the close was not lost")
			}
			looker := settle.New(booksOf(&faults{Ledger: h.books, Client: h.pool}), h.pool, settle.Options{})
			if found := must(looker.Reconcile(t.Context(), round.ID))(t); found.Agrees {
				t.Errorf("reconciled %+v", found)
			}
			settler, _ := h.settler(options)
			testkit.Eventually(t, soon, func() error {
				mark, err := h.pool.Watermark(t.Context(), round.ID)
				if err == nil && mark.Phase != game.Closed {
					err = errors.New("redis still has the round open")
				}
				return err
			})
			account := h.await(round, "settled", func(a game.Account) bool { return a.Phase == game.Settled })
			if late := h.grab(round, 2); len(late) > 0 {
				t.Errorf("a closed round granted %v", late)
			}
			h.wantTold(round, told)
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

// Redis was set back, and told "agrees": so many claims as it knew of were in the books. Or it said for ever that claims were on
// their way.
func TestReconcilingARoundOfARedisThatWasSetBack(t *testing.T) {
	dir := t.TempDir()
	server := testkit.Redis(t, "--dir", dir, "--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0")
	h := newSQLiteHouse(t, server.URL)
	round := h.opened(20)
	h.grabEach(round, 3)
	before := sizeOfAOF(t, dir)
	_, end := h.settler(settle.Options{})
	h.grabEach(round, 4)
	h.await(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 7 })
	end()
	server.Kill()
	cutAOF(t, dir, before)
	server.Restart()
	looker := settle.New(booksOf(&faults{Ledger: h.books, Client: h.pool}), h.pool, settle.Options{})
	found := must(looker.Reconcile(t.Context(), round.ID))(t)
	if found.Agrees || len(found.Differences) == 0 || found.Differences[0].What != "highest claim" {
		t.Errorf("reconciled %+v", found)
	}
}

// Nothing could be booked, and the health of settlement showed how fast the last booking had been.
func TestTheLagGrowsWhileNothingCanBeBooked(t *testing.T) {
	h := newSQLiteHouse(t, testkit.Redis(t).URL)
	round := h.opened(20)
	f := new(*faults)
	settler, _ := h.settler(settle.Options{}, func(made *faults) { *f = made })
	h.grab(round, 2)
	h.await(round, "the first claims", func(a game.Account) bool { return a.Booked.Packets == 2 })
	(*f).away.Store(true)
	h.grab(round, 2)
	testkit.Eventually(t, soon, func() error {
		if lag := settler.Counts().Lag; lag < 1500 {
			return fmt.Errorf("the lag is %d ms", lag)
		}
		return nil
	})
	(*f).away.Store(false)
	h.await(round, "all claims", func(a game.Account) bool { return a.Booked.Packets == 4 })
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

// cutAOF takes off everything that was written since the append-only file had this size.
func cutAOF(t *testing.T, dir string, size int64) {
	t.Helper()
	if err := os.Truncate(aofFile(t, dir), size); err != nil {
		t.Fatal(err)
	}
}

// All keys of a round were lost, with wins that players were told of and no settler had booked. Hosts heard that keys are lost, and
// nobody that wins are: now the instance that heard of them says so, once, and it stands beside the round.
func TestWinsThatWereToldAndNotBookedAreSaidToBeLostWithTheKeys(t *testing.T) {
	h := newSQLiteHouse(t, testkit.Redis(t).URL)
	round := h.opened(20)
	o := h.onlooker(round.Room, true)
	notices := h.noticesIn(round.Room)
	_, end := h.settler(settle.Options{})
	h.grabEach(round, 3)
	h.await(round, "the first claims", func(a game.Account) bool { return a.Booked.Packets == 3 })
	end()
	h.grab(round, 4)
	o.awaitHeard(t, 7)
	service := h.keeper()
	h.lose(round, "state claims board outbox amounts")
	h.settler(settle.Options{})
	account := h.await(round, "the alarm", func(a game.Account) bool { return a.FreezeReason == game.FrozenClaimsLost })
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
	h.await(round, "settled", settled)
	h.wantBalance()
}
