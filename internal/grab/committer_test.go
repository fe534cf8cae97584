package grab

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
)

func TestOneTapGoesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeScript{}
		c := New(p, Options{})
		start := time.Now()
		e := submit(t, c, tapOf(1, 7))
		synctest.Wait()
		if answer := e.want(t, game.Won); answer.Cents != 101 || answer.Number != 1 {
			t.Errorf("answer %v", answer)
		}
		if waited := e.at.Sub(start); waited != 0 {
			t.Errorf("the tap waited %v", waited)
		}
		if calls := p.seen(); len(calls) != 1 || calls[0].room != room || calls[0].round != round {
			t.Errorf("calls %v", calls)
		}
		closeCommitter(t, c)
	})
}

// While two calls are under way everything else queues, and goes out in full batches.
func TestAStormGoesInBatchesWithAtMostTwoCallsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeScript{takes: 10 * time.Millisecond}
		c := New(p, Options{})
		ears := submitFromPlayers(t, c, 1)
		synctest.Wait()
		ears = append(ears, submit(t, c, tapOf(5000, 1)))
		synctest.Wait()
		for i := range 1000 {
			ears = append(ears, submit(t, c, tapOf(10_000+i, 1)))
		}
		closeCommitter(t, c)
		for _, e := range ears {
			e.want(t, game.Won)
		}
		if want := []int{1, 1, 232, 256, 256, 256}; !slices.Equal(slices.Sorted(slices.Values(p.sizes())), want) {
			t.Errorf("batches of %v, want of %v", p.sizes(), want)
		}
		if p.most != 2 {
			t.Errorf("%d calls at once, want 2", p.most)
		}
		if len(p.claims) != 1002 {
			t.Errorf("%d claims of 1002 taps", len(p.claims))
		}
	})
}

func TestRoundsDoNotShareAQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeScript{takes: 10 * time.Millisecond}
		c := New(p, Options{Queue: 4})
		for n := range 3 { // two under way and four that wait, for each
			for i := range 6 {
				tap := tapOf(100*n+i, 1)
				if !c.Submit(room, "round-"+strconv.Itoa(n), tap, &answerRecorder{tap: tap}) {
					t.Fatalf("tap %d on round %d was refused", i, n)
				}
				synctest.Wait()
			}
		}
		if p.most != 6 {
			t.Errorf("%d calls at once, want two for each of three rounds", p.most)
		}
		for _, seen := range p.seen() {
			for _, tap := range seen.taps {
				if player, _ := strconv.Atoi(tap.Player[len("player-"):]); "round-"+strconv.Itoa(player/100) != seen.round {
					t.Errorf("%v went to %s", tap, seen.round)
				}
			}
		}
		closeCommitter(t, c)
	})
}

func TestAFullQueueRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeScript{takes: time.Millisecond}
		c := New(p, Options{Queue: 10})
		var taken []*answerRecorder
		for i := range 2 {
			taken = append(taken, submit(t, c, tapOf(i, 1)))
			synctest.Wait() // a sender has it
		}
		for i := range 10 {
			taken = append(taken, submit(t, c, tapOf(2+i, 1)))
		}
		refused := &answerRecorder{}
		if c.Submit(room, round, tapOf(99, 1), refused) {
			t.Error("the 11th waiting tap was taken")
		}
		time.Sleep(time.Millisecond) // of the bubble's clock: the calls under way end
		synctest.Wait()
		taken = append(taken, submit(t, c, tapOf(100, 1))) // there is room again
		closeCommitter(t, c)
		for _, e := range taken {
			e.want(t, game.Won)
		}
		if len(refused.answers) != 0 {
			t.Errorf("a refused tap was answered: %v", refused.answers)
		}
	})
}

// Nothing stays behind for a round that nobody taps any more.
func TestAnIdleCommitterKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(&fakeScript{takes: time.Millisecond}, Options{})
		for range 3 {
			submitFromPlayers(t, c, 300)
			time.Sleep(time.Second)
			synctest.Wait()
			c.mu.Lock()
			if len(c.queues) != 0 {
				t.Errorf("%d queues of idle rounds", len(c.queues))
			}
			c.mu.Unlock()
			c.senders.Wait() // returns at once, or the bubble deadlocks
		}
	})
}

func TestCloseDrainsAndThenRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeScript{takes: 100 * time.Millisecond}
		c := New(p, Options{})
		ears := submitFromPlayers(t, c, 700)
		closing := make(chan error)
		go func() { closing <- c.Close(context.Background()) }()
		synctest.Wait()
		if c.Submit(room, round, tapOf(9999, 1), &answerRecorder{}) {
			t.Error("a tap was taken after Close began")
		}
		if err := <-closing; err != nil {
			t.Errorf("close: %v", err)
		}
		for _, e := range ears {
			e.want(t, game.Won)
		}
		closeCommitter(t, c) // twice is fine
	})
}

func TestCloseGivesUpWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := &fakeScript{fate: func(int) callResult { return callResult{hangs: true} }}
		c := New(hangs, Options{})
		ears := submitFromPlayers(t, c, 700)
		synctest.Wait()
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if err := c.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close: %v", err)
		}
		if took := time.Since(start); took != 500*time.Millisecond {
			t.Errorf("close took %v", took)
		}
		for _, e := range ears {
			e.want(t, game.Busy)
		}
	})
}

// Whoever listens to whole batches hears of each before any of its taps does.
func TestGrabbedHearsBeforeTheTaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &answerRecorder{tap: tapOf(1, 1)}
		var heard []game.Grabbed
		c := New(&fakeScript{packets: 5}, Options{Grabbed: func(inRoom, ofRound string, g game.Grabbed) {
			if len(e.answers) > 0 || inRoom != room || ofRound != round {
				t.Errorf("heard of %s in %s after the tap's answers %v", ofRound, inRoom, e.answers)
			}
			heard = append(heard, g)
		}})
		if !c.Submit(room, round, e.tap, e) {
			t.Fatal("refused")
		}
		closeCommitter(t, c)
		e.want(t, game.Won)
		if len(heard) != 1 || heard[0].Left.Packets != 4 {
			t.Errorf("heard %v", heard)
		}
	})
}
