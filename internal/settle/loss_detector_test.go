package settle_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/settle"
	"redrain/internal/testkit"
)

// onlooker is an instance that neither grants nor settles: it hears what happens in a room.
type onlooker struct {
	*settle.LossDetector
	settler *settle.Settler
	deaf    atomic.Bool
	heard   func() int // the number of the newest claim
}

// onlooker starts one; it looks by itself if looking.
func (h *house) onlooker(room string, looking bool) *onlooker {
	h.Helper()
	client := h.dial()
	f := &faults{Ledger: h.openLedger(), Client: client}
	o := &onlooker{settler: settle.New(booksOf(f), f, settle.Options{})}
	o.LossDetector = settle.NewLossDetector(o.settler)
	var mu sync.Mutex
	var ready sync.Once
	subscribed, highest := make(chan struct{}), 0
	ear := client.Subscribe(context.WithoutCancel(h.Context()), slog.New(slog.DiscardHandler), func(heard game.Event) {
		if !o.deaf.Load() {
			o.HandleEvent(heard)
		}
		if heard.Missed {
			ready.Do(func() { close(subscribed) })
		}
		if heard.Claims != nil {
			mu.Lock()
			defer mu.Unlock()
			highest = heard.Claims.Claims[len(heard.Claims.Claims)-1].Number
		}
	})
	o.heard = func() int { mu.Lock(); defer mu.Unlock(); return highest }
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.Context()))
	var running sync.WaitGroup
	if looking {
		running.Go(func() { o.Run(ctx, nil) })
	}
	h.Cleanup(func() { cancel(); running.Wait(); _ = ear.Close() })
	if err := ear.Add(h.Context(), room); err != nil {
		h.Fatal(err)
	}
	<-subscribed
	return o
}

func (o *onlooker) awaitHeard(t testing.TB, number int) {
	t.Helper()
	testkit.Eventually(t, soon, func() error {
		if heard := o.heard(); heard < number {
			return fmt.Errorf("heard of claim %d, want %d", heard, number)
		}
		return nil
	})
}

// noticesIn collects the notices that a room hears; the function returns how many of each payload there were.
func (h *house) noticesIn(room string) func() map[string]int {
	h.Helper()
	heard := h.redis.Subscribe(h.Context(), "redrain:room:"+room)
	if _, err := heard.Receive(h.Context()); err != nil {
		h.Fatal(err)
	}
	var mu sync.Mutex
	counts := make(map[string]int)
	var listening sync.WaitGroup
	listening.Go(func() {
		for message := range heard.Channel() {
			mu.Lock()
			counts[message.Payload]++
			mu.Unlock()
		}
	})
	h.Cleanup(func() { _ = heard.Close(); listening.Wait() })
	return func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		copied := make(map[string]int, len(counts))
		for payload, count := range counts {
			copied[payload] = count
		}
		return copied
	}
}

// Elsewhere a Redis that came back without its newest writes went on as if nothing had been: winners had nothing, and others
// won the same numbers. Here the instance that granted them dies together with Redis, nobody has settled anything, and another
// instance has only heard of the claims: it freezes the round by itself, and the host hears why, once.
func TestWhoOnlyHeardOfClaimsNoticesThatRedisLostThem(t *testing.T) {
	dir := t.TempDir()
	server := testkit.Redis(t, "--dir", dir, "--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0")
	h := newSQLiteHouse(t, server.URL)
	round := h.opened(50)
	others := []*onlooker{h.onlooker(round.Room, true), h.onlooker(round.Room, true)}
	h.grabEach(round, 10)
	kept := appended(t, dir)
	told := h.grabEach(round, 7) // by an instance that is not heard of again
	for _, o := range others {
		o.awaitHeard(t, 17)
	}

	server.Kill()
	if err := os.Truncate(kept.name, kept.size); err != nil {
		t.Fatal(err)
	}
	server.Restart()
	if mark := must(h.pool.Watermark(t.Context(), round.ID))(t); mark.Claimed.Packets != 10 {
		t.Fatalf("redis has %+v, it was to lose %d claims", mark, len(told))
	}
	account := h.await(round, "the freeze", frozen)
	if account.Highest != 17 || account.Booked.Packets != 0 {
		t.Errorf("the account is %+v", account)
	}
	h.wantShut(round)
	for _, o := range others {
		if err := o.Check(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if one, two := others[0].settler.Counts(), others[1].settler.Counts(); one.Lost+two.Lost != 1 || one.Alarms+two.Alarms != 1 {
		t.Errorf("the alarms are %+v and %+v, want one", one, two)
	}
	settler, _ := h.settler(settle.Options{})
	found := must(settler.Reconcile(t.Context(), round.ID))(t)
	if found.Agrees || found.Differences[0] != (game.Difference{What: "highest claim", Expected: 17, Found: 10}) {
		t.Errorf("reconciled %+v", found)
	}
	h.goOn(round, settler, others)
}

// goOn releases a round that lost claims: that much is known then, whoever else heard of them, and it settles.
func (h *house) goOn(round game.Round, settler *settle.Settler, others []*onlooker) {
	h.Helper()
	must(settler.Release(h.Context(), round.ID))(h)
	for _, o := range others {
		if err := o.Check(h.Context()); err != nil {
			h.Error(err)
		}
	}
	more := h.grab(round, 5)
	if len(more) != 5 || h.account(round).Frozen {
		h.Errorf("a released round granted %v: %+v", more, h.account(round))
	}
	h.close(round, game.Stopped)
	h.await(round, "settled", settled)
	h.wantBalance()
}

// file is an append-only file as it was.
type file struct {
	name string
	size int64
}

// appended is the newest append-only file of a server in dir.
func appended(t *testing.T, dir string) file {
	t.Helper()
	files, err := filepath.Glob(dir + "/appendonlydir/*.incr.aof")
	if err != nil || len(files) != 1 {
		t.Fatalf("append-only files are %v, %v", files, err)
	}
	whole, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return file{files[0], whole.Size()}
}

// parts are the keys that a grab writes.
var parts = []string{"state", "claims", "board", "outbox"}

// remember takes a copy of a round's keys; the function puts it in their place, like a Redis that lost what came after it.
func (h *house) remember(round game.Round) (goBack func()) {
	h.Helper()
	key := func(part string) string { return "redrain:{" + round.ID + "}:" + part }
	copies := make(map[string]string)
	for _, part := range parts {
		copies[part] = must(h.redis.Dump(h.Context(), key(part)).Result())(h)
	}
	return func() {
		h.Helper()
		for _, part := range parts {
			if err := h.redis.RestoreReplace(h.Context(), key(part), time.Hour, copies[part]).Err(); err != nil {
				h.Fatal(err)
			}
		}
	}
}

// Redis lost claims and has granted their numbers to others before anybody could look: as many are there as were heard of. The
// last one that was heard of is somebody else's.
func TestNumbersThatWereGrantedASecondTimeAreNoticed(t *testing.T) {
	for name, hears := range map[string]bool{"and heard of": true, "in silence": false} {
		t.Run(name, func(t *testing.T) {
			h := newSQLiteHouse(t, testkit.Redis(t).URL)
			round := h.opened(50)
			notices := h.noticesIn(round.Room)
			o := h.onlooker(round.Room, false)
			h.grabEach(round, 3)
			goBack := h.remember(round)
			h.grabEach(round, 4)
			o.awaitHeard(t, 7)
			goBack()
			o.deaf.Store(!hears) // its connection is away
			h.grabEach(round, 6)
			o.awaitHeard(t, 9)
			if !hears {
				o.HandleEvent(game.Event{Room: round.Room, Missed: true})
			}
			if err := o.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			if counts := o.settler.Counts(); !h.account(round).Frozen || counts.Lost != 1 {
				t.Errorf("the account is %+v, alarms are %+v", h.account(round), counts)
			}
			testkit.Eventually(t, soon, func() error {
				if heard := notices(); heard["hosts claims_lost"] != 1 {
					return fmt.Errorf("the room heard %v", heard)
				}
				return nil
			})
		})
	}
}

// A storm of grabs, with subscriptions that are cut all the time, and looks as fast as they can be: nothing that is in flight,
// or missed, looks like a loss.
func TestNoAlarmUnderAStorm(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteHouse(t, url)
		const packets = 6000
		round := h.opened(packets)
		h.settler(settle.Options{})
		watching := []*onlooker{h.onlooker(round.Room, false), h.onlooker(round.Room, false)}
		storm, done := context.WithTimeout(t.Context(), 4*time.Second)
		defer done()
		var playing, looking sync.WaitGroup
		var mu sync.Mutex
		granted := 0
		for range 4 {
			playing.Go(func() {
				for storm.Err() == nil {
					won := h.grab(round, 1+rand.IntN(8))
					mu.Lock()
					if granted += len(won); granted == packets {
						done()
					}
					mu.Unlock()
				}
			})
		}
		looks := make([]int, len(watching))
		for i, o := range watching {
			looking.Go(func() {
				for ; storm.Err() == nil; looks[i]++ {
					if err := o.Check(t.Context()); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		playing.Go(func() { h.cutSubscriptions(storm) })
		playing.Wait()
		looking.Wait()
		h.close(round, game.Stopped)
		account := h.await(round, "settled", settled)
		for i, o := range watching {
			if err := o.Check(t.Context()); err != nil {
				t.Error(err)
			}
			if counts := o.settler.Counts(); counts.Lost > 0 || looks[i] < 10 {
				t.Errorf("the alarms are %+v after %d looks", counts, looks[i])
			}
		}
		if account.Booked.Packets != granted || granted < packets/10 {
			t.Errorf("%d were granted, the account is %+v", granted, account)
		}
	})
}

// cutSubscriptions ends them all, again and again, where the server can.
func (h *house) cutSubscriptions(until context.Context) {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-until.Done():
			return
		case <-ticker.C:
			if err := h.redis.ClientKillByFilter(until, "TYPE", "pubsub").Err(); err != nil {
				return // the embedded server cannot
			}
		}
	}
}

// Keys that are gone are another alarm's: nothing can be granted from them. A round that is closed and booked is forgotten.
func TestAWitnessLeavesToOthersWhatIsTheirs(t *testing.T) {
	h := newSQLiteHouse(t, testkit.Redis(t).URL)
	o := h.onlooker(h.room, false)
	round := h.opened(20)
	h.settler(settle.Options{})
	h.grab(round, 5)
	o.awaitHeard(t, 5)
	h.close(round, game.Stopped)
	h.await(round, "settled", settled)
	for range 2 {
		if err := o.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := h.redis.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	next := h.opened(20)
	h.grab(next, 5)
	if err := h.redis.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if err := o.Check(t.Context()); err != nil || o.settler.Counts().Alarms > 0 || h.account(next).Frozen {
		t.Errorf("alarms are %+v, %v", o.settler.Counts(), err)
	}
}

// The answers of this process count too, should the message never come. What the host excuses stays excused.
func TestAnswersThatRedisForgotFreezeTheRound(t *testing.T) {
	h := newSQLiteHouse(t, testkit.Redis(t).URL)
	round := h.opened(20)
	settler, _ := h.settler(settle.Options{})
	witness := settle.NewLossDetector(settler)
	h.grab(round, 3)
	h.await(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 3 })
	witness.RecordGrant(round.Room, round.ID, 5)
	if err := witness.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.await(round, "the freeze", frozen)
	must(settler.Release(t.Context(), round.ID))(t)
	witness.RecordGrant(round.Room, round.ID, 5) // somebody else comes late with the same
	if err := witness.Check(t.Context()); err != nil || h.account(round).Frozen {
		t.Errorf("it is frozen again: %v", err)
	}
	witness.RecordGrant(round.Room, round.ID, 6)
	if err := witness.Check(t.Context()); err != nil || !h.account(round).Frozen {
		t.Errorf("another loss goes unnoticed: %v", err)
	}
}

// A process that only settles listens by itself to the rooms of what is not settled, and to no others.
func TestASettlerAloneListensToWhatIsNotSettled(t *testing.T) {
	h := newSQLiteHouse(t, testkit.Redis(t).URL)
	round := h.opened(20)
	settler, _ := h.settler(settle.Options{})
	witness := settle.NewLossDetector(settler)
	client := h.dial()
	ear := client.Subscribe(context.WithoutCancel(t.Context()), slog.New(slog.DiscardHandler), witness.HandleEvent)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { witness.Run(ctx, ear) })
	t.Cleanup(func() { cancel(); running.Wait(); _ = ear.Close() })
	listening := func(want int64) {
		t.Helper()
		testkit.Eventually(t, soon, func() error {
			channel := "redrain:room:" + round.Room
			if got, err := h.redis.PubSubNumSub(t.Context(), channel).Result(); err != nil || got[channel] != want {
				return errors.Join(err, fmt.Errorf("%v listen", got))
			}
			return nil
		})
	}
	listening(1)
	h.grab(round, 1)
	goBack := h.remember(round)
	h.grabEach(round, 4)
	h.await(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 5 })
	goBack()
	h.await(round, "the freeze", frozen)
	must(settler.Release(t.Context(), round.ID))(t)
	h.close(round, game.Stopped)
	h.await(round, "settled", settled)
	listening(0)
}
