package settle_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/settle"
	"redrain/internal/testkit"
)

// observer is an instance that neither grants nor settles, and only receives the events of a room.
type observer struct {
	*settle.LossDetector
	settler     *settle.Settler
	ignoring    atomic.Bool
	newestClaim func() int // number of the newest claim received
}

// startObserver subscribes an observer to a room; if running, it checks by itself.
func (h *env) startObserver(room string, running bool) *observer {
	h.Helper()
	client := h.dial()
	f := &faults{Ledger: h.openLedger(), Client: client}
	o := &observer{settler: settle.New(asBooks(f), f, settle.Options{})}
	o.LossDetector = settle.NewLossDetector(o.settler)
	var mu sync.Mutex
	var ready sync.Once
	subscribed, highest := make(chan struct{}), 0
	subscription := client.Subscribe(context.WithoutCancel(h.Context()), slog.New(slog.DiscardHandler), func(event game.Event) {
		if !o.ignoring.Load() {
			o.HandleEvent(event)
		}
		if event.Missed {
			ready.Do(func() { close(subscribed) })
		}
		if event.Claims != nil {
			mu.Lock()
			defer mu.Unlock()
			highest = event.Claims.Claims[len(event.Claims.Claims)-1].Number
		}
	})
	o.newestClaim = func() int { mu.Lock(); defer mu.Unlock(); return highest }
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.Context()))
	var checking sync.WaitGroup
	if running {
		checking.Go(func() { o.Run(ctx, nil) })
	}
	h.Cleanup(func() { cancel(); checking.Wait(); _ = subscription.Close() })
	if err := subscription.SubscribeRoom(h.Context(), room); err != nil {
		h.Fatal(err)
	}
	<-subscribed
	return o
}

func (o *observer) awaitClaim(t testing.TB, number int) {
	t.Helper()
	testkit.Eventually(t, soon, func() error {
		if newest := o.newestClaim(); newest < number {
			return fmt.Errorf("received claim %d, want %d", newest, number)
		}
		return nil
	})
}

// collectNotices subscribes to a room; the function returns how often each payload was received.
func (h *env) collectNotices(room string) func() map[string]int {
	h.Helper()
	messages := h.redis.Subscribe(h.Context(), "redrain:room:"+room)
	if _, err := messages.Receive(h.Context()); err != nil {
		h.Fatal(err)
	}
	var mu sync.Mutex
	counts := make(map[string]int)
	var listening sync.WaitGroup
	listening.Go(func() {
		for message := range messages.Channel() {
			mu.Lock()
			counts[message.Payload]++
			mu.Unlock()
		}
	})
	h.Cleanup(func() { _ = messages.Close(); listening.Wait() })
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

// Redis restarts without its newest writes. The instance that granted the lost claims is gone too, and nothing is booked; another
// instance knows of the claims only by pub/sub. It freezes the round, and there is one alarm. Otherwise winners would get nothing,
// and others would win the same numbers.
func TestInstanceThatOnlyReceivedEventsNoticesLostClaims(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := testkit.Redis(t, "--dir", dir, "--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0")
	h := newSQLiteEnv(t, server.URL)
	round := h.startRound(50)
	others := []*observer{h.startObserver(round.Room, true), h.startObserver(round.Room, true)}
	h.grabEach(round, 10)
	kept := sizeOfAOF(t, dir)
	told := h.grabEach(round, 7) // by an instance that ends here
	for _, o := range others {
		o.awaitClaim(t, 17)
	}

	server.Kill()
	cutAOF(t, dir, kept)
	server.Restart()
	if mark := must(h.pool.Watermark(t.Context(), round.ID))(t); mark.Claimed.Packets != 10 {
		t.Fatalf("redis has %+v, it was to lose %d claims", mark, len(told))
	}
	account := h.awaitAccount(round, "the freeze", frozen)
	if account.Highest != 17 || account.Booked.Packets != 0 {
		t.Errorf("the account is %+v", account)
	}
	h.wantGrantsRefused(round)
	for _, o := range others {
		if err := o.Check(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if one, two := others[0].settler.Counts(), others[1].settler.Counts(); one.Lost+two.Lost != 1 || one.Alarms+two.Alarms != 1 {
		t.Errorf("the alarms are %+v and %+v, want one", one, two)
	}
	settler, _ := h.startSettler(settle.Options{})
	found := must(settler.Reconcile(t.Context(), round.ID))(t)
	if found.Agrees || found.Differences[0] != (game.Difference{What: "highest claim", Expected: 17, Found: 10}) {
		t.Errorf("reconciled %+v", found)
	}
	h.releaseAndSettle(round, settler, others)
}

// releaseAndSettle releases a round that lost claims. The loss is excused for all observers then, and the round settles.
func (h *env) releaseAndSettle(round game.Round, settler *settle.Settler, others []*observer) {
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
	h.awaitAccount(round, "settled", settled)
	h.wantBalance()
}

// parts are the keys that a grab writes.
var parts = []string{"state", "claims", "board", "outbox"}

// snapshotKeys copies the keys of a round; the function restores them, which is as if Redis had lost all later writes.
func (h *env) snapshotKeys(round game.Round) (restoreKeys func()) {
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

// Redis lost claims and granted their numbers again before the detector checked. So it counts enough claims, but the last one that was
// observed belongs to another player.
func TestNumbersGrantedASecondTimeAreNoticed(t *testing.T) {
	t.Parallel()
	for name, receives := range map[string]bool{"new claims received": true, "new claims missed": false} {
		t.Run(name, func(t *testing.T) {
			h := newSQLiteEnv(t, testkit.Redis(t).URL)
			round := h.startRound(50)
			notices := h.collectNotices(round.Room)
			o := h.startObserver(round.Room, false)
			h.grabEach(round, 3)
			restoreKeys := h.snapshotKeys(round)
			h.grabEach(round, 4)
			o.awaitClaim(t, 7)
			restoreKeys()
			o.ignoring.Store(!receives) // as if its connection were down
			h.grabEach(round, 6)
			o.awaitClaim(t, 9)
			if !receives {
				o.HandleEvent(game.Event{Room: round.Room, Missed: true})
			}
			if err := o.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			if counts := o.settler.Counts(); !h.account(round).Frozen || counts.Lost != 1 {
				t.Errorf("the account is %+v, alarms are %+v", h.account(round), counts)
			}
			testkit.Eventually(t, soon, func() error {
				if got := notices(); got["hosts claims_lost"] != 1 {
					return fmt.Errorf("the room received %v", got)
				}
				return nil
			})
		})
	}
}

// Many grabs, subscriptions that are cut all the time, and checks as fast as possible: claims in flight and missed messages never look
// like a loss.
func TestNoAlarmUnderLoadWithCutSubscriptions(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		h := newSQLiteEnv(t, url)
		const packets = 6000
		round := h.startRound(packets)
		h.startSettler(settle.Options{})
		watching := []*observer{h.startObserver(round.Room, false), h.startObserver(round.Room, false)}
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
		checks := make([]int, len(watching))
		for i, o := range watching {
			looking.Go(func() {
				for ; storm.Err() == nil; checks[i]++ {
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
		account := h.awaitAccount(round, "settled", settled)
		for i, o := range watching {
			if err := o.Check(t.Context()); err != nil {
				t.Error(err)
			}
			if counts := o.settler.Counts(); counts.Lost > 0 || checks[i] < 10 {
				t.Errorf("the alarms are %+v after %d checks", counts, checks[i])
			}
		}
		if account.Booked.Packets != granted || granted < packets/10 {
			t.Errorf("%d were granted, the account is %+v", granted, account)
		}
	})
}

// cutSubscriptions disconnects all subscriptions every 20 ms, if the server can.
func (h *env) cutSubscriptions(until context.Context) {
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

// A round whose keys are all gone is no loss for the detector: nothing can be granted from it. A closed and booked round is forgotten.
func TestDetectorIgnoresMissingKeysAndSettledRounds(t *testing.T) {
	t.Parallel()
	h := newSQLiteEnv(t, testkit.Redis(t).URL)
	o := h.startObserver(h.room, false)
	round := h.startRound(20)
	h.startSettler(settle.Options{})
	h.grab(round, 5)
	o.awaitClaim(t, 5)
	h.close(round, game.Stopped)
	h.awaitAccount(round, "settled", settled)
	for range 2 {
		if err := o.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := h.redis.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	next := h.startRound(20)
	h.grab(next, 5)
	if err := h.redis.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if err := o.Check(t.Context()); err != nil || o.settler.Counts().Alarms > 0 || h.account(next).Frozen {
		t.Errorf("alarms are %+v, %v", o.settler.Counts(), err)
	}
}

// Claims in replies to this process count, even if their event never arrives. A loss that the host has excused stays excused.
func TestGrantsThatRedisLostFreezeTheRound(t *testing.T) {
	t.Parallel()
	h := newSQLiteEnv(t, testkit.Redis(t).URL)
	round := h.startRound(20)
	settler, _ := h.startSettler(settle.Options{})
	detector := settle.NewLossDetector(settler)
	h.grab(round, 3)
	h.awaitAccount(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 3 })
	detector.RecordGrant(round.Room, round.ID, 5)
	if err := detector.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.awaitAccount(round, "the freeze", frozen)
	must(settler.Release(t.Context(), round.ID))(t)
	detector.RecordGrant(round.Room, round.ID, 5) // another process reports the same later
	if err := detector.Check(t.Context()); err != nil || h.account(round).Frozen {
		t.Errorf("it is frozen again: %v", err)
	}
	detector.RecordGrant(round.Room, round.ID, 6)
	if err := detector.Check(t.Context()); err != nil || !h.account(round).Frozen {
		t.Errorf("another loss goes unnoticed: %v", err)
	}
}

// With a subscription of its own the detector subscribes to the rooms of unsettled rounds, and to no others.
func TestDetectorSubscribesToRoomsOfUnsettledRounds(t *testing.T) {
	t.Parallel()
	h := newSQLiteEnv(t, testkit.Redis(t).URL)
	round := h.startRound(20)
	settler, _ := h.startSettler(settle.Options{})
	detector := settle.NewLossDetector(settler)
	client := h.dial()
	subscription := client.Subscribe(context.WithoutCancel(t.Context()), slog.New(slog.DiscardHandler), detector.HandleEvent)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { detector.Run(ctx, subscription) })
	t.Cleanup(func() { cancel(); running.Wait(); _ = subscription.Close() })
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
	restoreKeys := h.snapshotKeys(round)
	h.grabEach(round, 4)
	h.awaitAccount(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 5 })
	restoreKeys()
	h.awaitAccount(round, "the freeze", frozen)
	must(settler.Release(t.Context(), round.ID))(t)
	h.close(round, game.Stopped)
	h.awaitAccount(round, "settled", settled)
	listening(0)
}
