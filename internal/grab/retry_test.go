package grab

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
)

// always gives every call the same fate.
func always(f callResult) func(int) callResult { return func(int) callResult { return f } }

// first gives the first n calls a fate and lets the rest work.
func first(n int, f callResult) func(int) callResult {
	return func(call int) callResult {
		if call < n {
			return f
		}
		return callResult{}
	}
}

// inOneBatch queues taps behind a sender that is busy with another one, so that they go out together.
func inOneBatch(t *testing.T, c *Committer, taps ...game.Tap) []*answerRecorder {
	t.Helper()
	ears := make([]*answerRecorder, len(taps))
	c.mu.Lock()
	c.queues[round] = &queue{room: room, round: round, senders: c.opts.Senders}
	c.mu.Unlock()
	for i, tap := range taps {
		ears[i] = submit(t, c, tap)
	}
	q := c.queues[round]
	q.senders = 1
	c.senders.Go(func() { c.send(q) })
	return ears
}

func TestAnUnknownResultIsTriedAgainWithTheSameTaps(t *testing.T) {
	for name, lost := range map[string]callResult{
		"lost request": {before: errLost}, "lost reply": {after: errLost}, "answers missing": {short: true}, "silence": {hangs: true},
		"unknown": {before: fmt.Errorf("proxy: %w", game.ErrUnknown)}, "failover": {before: errPasses},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &fakeScript{fate: first(2, lost)}
				c := New(p, Options{})
				taps := []game.Tap{tapOf(1, 4), tapOf(2, 4), tapOf(3, 5)}
				ears := inOneBatch(t, c, taps...)
				closeCommitter(t, c)
				for i, e := range ears {
					if answer := e.want(t, game.Won); answer.Number != i+1 {
						t.Errorf("%v has claim %d, want %d", e.tap, answer.Number, i+1)
					}
				}
				calls := p.seen()
				if len(calls) != 3 {
					t.Fatalf("%d calls, want 3", len(calls))
				}
				for _, c := range calls {
					if !slices.Equal(c.taps, taps) {
						t.Errorf("sent %v, want %v", c.taps, taps)
					}
				}
			})
		})
	}
}

// The pauses grow up to a quarter of a second, and when the next try would come after three seconds the taps hear busy.
func TestRetriesSlowDownUntilTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeScript{fate: always(callResult{before: errLost})}
		c := New(p, Options{})
		start := time.Now()
		e := submit(t, c, tapOf(1, 1))
		closeCommitter(t, c)
		e.want(t, game.Busy)
		if waited := e.at.Sub(start); waited > 3*time.Second || waited <= 3*time.Second-mostDelay-mostDelay/2 {
			t.Errorf("busy after %v, want when no further try fits into 3s", waited)
		}
		calls := p.seen()
		delay := firstDelay
		for i := 1; i < len(calls); i++ {
			pause := calls[i].at.Sub(calls[i-1].at)
			if pause < delay/2 || pause >= delay+delay/2 {
				t.Errorf("pause %d is %v, want half of %v to one and a half", i, pause, delay)
			}
			delay = min(2*delay, mostDelay)
		}
		if len(calls) < 11 || len(calls) > 30 {
			t.Errorf("%d tries in three seconds", len(calls))
		}
	})
}

func TestPausesAreJittered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pauses := make(map[time.Duration]bool)
		for range 20 {
			p := &fakeScript{fate: first(1, callResult{before: errLost})}
			c := New(p, Options{})
			submit(t, c, tapOf(1, 1))
			closeCommitter(t, c)
			calls := p.seen()
			pauses[calls[1].at.Sub(calls[0].at)] = true
		}
		if len(pauses) < 10 {
			t.Errorf("20 instances that lost their reply together come back in only %d moments", len(pauses))
		}
	})
}

// The oldest tap of a batch sets the deadline: it waited in the queue while an earlier batch hung.
func TestTheOldestTapSetsTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeScript{fate: always(callResult{hangs: true})}
		c := New(p, Options{Senders: 1})
		start := time.Now()
		oldest := submit(t, c, tapOf(1, 1))
		time.Sleep(2 * time.Second)
		younger := submit(t, c, tapOf(2, 1))
		closeCommitter(t, c)
		oldest.want(t, game.Busy)
		younger.want(t, game.Busy)
		if waited := oldest.at.Sub(start); waited != 3*time.Second {
			t.Errorf("the oldest heard after %v", waited)
		}
		if waited := younger.at.Sub(start); waited != 5*time.Second {
			t.Errorf("the younger one heard %v after the start, want 5s", waited)
		}
	})
}

func TestTapsThatWaitedTooLongAreNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeScript{fate: first(3, callResult{hangs: true})}
		c := New(p, Options{Senders: 1})
		submit(t, c, tapOf(1, 1)) // holds the only sender for three seconds
		synctest.Wait()
		tooLong := submit(t, c, tapOf(2, 1))
		time.Sleep(500 * time.Millisecond)
		inTime := submit(t, c, tapOf(3, 1))
		closeCommitter(t, c)
		tooLong.want(t, game.Busy)
		inTime.want(t, game.Won)
		for _, c := range p.seen() {
			if slices.Contains(c.taps, tooLong.tap) {
				t.Error("a tap was sent after its deadline")
			}
		}
	})
}

// Nothing was done and asking again would not help: the tap hears so at once. Lost keys mean that nothing is granted until an
// operator has looked at the round, and are called so.
func TestWhatWasRefusedIsAnsweredAtOnce(t *testing.T) {
	for refusal, want := range map[error]game.Outcome{game.ErrRefused: game.Busy, game.ErrGone: game.Frozen, game.ErrTorn: game.Frozen} {
		t.Run(refusal.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &fakeScript{fate: always(callResult{before: fmt.Errorf("grab.lua: %w", refusal)})}
				c := New(p, Options{})
				start := time.Now()
				e := submit(t, c, tapOf(1, 1))
				closeCommitter(t, c)
				e.want(t, want)
				if e.at != start || len(p.seen()) != 1 {
					t.Errorf("%s after %v and %d calls, want at once", want, e.at.Sub(start), len(p.seen()))
				}
			})
		})
	}
}

// The first reply was lost, and then the keys were: the tap may have won, so it hears that nobody knows.
func TestKeysLostAfterAnUnknownResultAreBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeScript{packets: 1, fate: func(call int) callResult {
			if call == 0 {
				return callResult{after: errLost}
			}
			return callResult{before: game.ErrGone}
		}}
		c := New(p, Options{})
		e := submit(t, c, tapOf(1, 1))
		closeCommitter(t, c)
		e.want(t, game.Busy)
		if len(p.seen()) != 2 || len(p.claims) != 1 {
			t.Errorf("%d calls and %d claims, want 2 and 1", len(p.seen()), len(p.claims))
		}
	})
}

// The first reply was lost, the claims stand: on the retry their duplicates are this batch's own wins. A drop tapped twice
// in the batch was won once.
func TestOnARetryDuplicatesAreOwnWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeScript{fate: first(1, callResult{after: errLost})}
		c := New(p, Options{})
		ears := inOneBatch(t, c, tapOf(1, 4), tapOf(2, 4), tapOf(1, 4), tapOf(1, 5))
		closeCommitter(t, c)
		for i, want := range []game.Answer{
			{Outcome: game.Won, Cents: 101, Number: 1}, {Outcome: game.Won, Cents: 102, Number: 2},
			{Outcome: game.Duplicate, Cents: 101, Number: 1}, {Outcome: game.Won, Cents: 103, Number: 3},
		} {
			if answer := ears[i].want(t, want.Outcome); answer != want {
				t.Errorf("tap %d: %v, want %v", i, answer, want)
			}
		}
	})
}

// A refusal says that nothing was done. A duplicate on the next try is another tap's win, of the player's other tab, and was
// told as this one's own.
func TestAfterARefusalADuplicateStaysOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeScript{}
		c := New(p, Options{})
		submit(t, c, tapOf(1, 4))
		synctest.Wait()
		p.fate = func(call int) callResult { return first(3, callResult{before: errPasses})(call) }
		again := submit(t, c, tapOf(1, 4))
		closeCommitter(t, c)
		again.want(t, game.Duplicate)
		if len(p.seen()) != 4 {
			t.Errorf("%d calls, want 4", len(p.seen()))
		}
	})
}

// Both tabs of a player tap one drop, in batches whose first replies are both lost: one tab has won, the other hears of it. A look
// at who was granted what that fails is tried again like the rest.
func TestOfTwoTabsWhoseRepliesAreLostOneHasWon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lookups := 0
		p := &fakeScript{fate: first(2, callResult{after: errLost})}
		p.looking = func() error {
			if lookups++; lookups <= 2 {
				return errLost
			}
			return nil
		}
		tabs := []*Committer{New(p, Options{}), New(p, Options{})}
		ears := make([]*answerRecorder, len(tabs))
		for i, c := range tabs {
			ears[i] = submit(t, c, tapOf(1, 4))
			synctest.Wait()
		}
		other := submit(t, tabs[1], tapOf(2, 4))
		for _, c := range tabs {
			closeCommitter(t, c)
		}
		ears[0].want(t, game.Won)
		ears[1].want(t, game.Duplicate)
		other.want(t, game.Won)
	})
}

// A batch holds wins of its own and taps that another batch has won: each is told as what it is.
func TestARepeatedBatchTellsItsOwnWinsFromOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeScript{}
		c := New(p, Options{})
		for drop := range 3 {
			submit(t, c, tapOf(1, drop))
			synctest.Wait()
		}
		p.fate = func(call int) callResult { return first(4, callResult{after: errLost})(call) }
		ears := inOneBatch(t, c, tapOf(2, 1), tapOf(1, 1), tapOf(3, 1), tapOf(1, 2), tapOf(4, 1))
		closeCommitter(t, c)
		for i, want := range []game.Outcome{game.Won, game.Duplicate, game.Won, game.Duplicate, game.Won} {
			ears[i].want(t, want)
		}
	})
}

// A try whose result is unknown stays unknown, whatever comes after it.
func TestARefusalAfterAnUnknownResultTakesNothingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeScript{fate: func(call int) callResult {
			return []callResult{{after: errLost}, {before: errPasses}, {before: errPasses}, {}}[call]
		}}
		c := New(p, Options{})
		e := submit(t, c, tapOf(1, 4))
		closeCommitter(t, c)
		e.want(t, game.Won)
	})
}

func TestWithoutARetryADuplicateStaysOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(&fakeScript{}, Options{})
		submit(t, c, tapOf(1, 4))
		synctest.Wait()
		again := submit(t, c, tapOf(1, 4))
		closeCommitter(t, c)
		if answer := again.want(t, game.Duplicate); answer.Cents != 101 {
			t.Errorf("the second tap hears %v", answer)
		}
	})
}
