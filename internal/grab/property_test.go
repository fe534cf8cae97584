package grab

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"redrain/internal/game"
)

// plan is one drawn storm: who taps what after which pause, and what becomes of the calls.
type plan struct {
	opts    Options
	packets int
	taps    []game.Tap
	pauses  []time.Duration // before each tap
	fates   []callResult    // of the calls, over and over
	takes   time.Duration
	closeIn time.Duration // how long Close may drain
}

var fates = []callResult{
	{}, {}, {}, {before: errLost}, {after: errLost}, {short: true}, {hangs: true},
	{before: fmt.Errorf("%w", game.ErrRefused)}, {before: errPasses}, {before: fmt.Errorf("%w", game.ErrGone)}, {before: fmt.Errorf("%w", game.ErrTorn)},
}

func drawPlan(t *rapid.T) plan {
	milliseconds := func(most int, label string) time.Duration {
		return time.Duration(rapid.IntRange(0, most).Draw(t, label)) * time.Millisecond
	}
	p := plan{
		opts: Options{
			Batch: rapid.IntRange(1, 8).Draw(t, "batch"), Queue: rapid.IntRange(1, 40).Draw(t, "queue"),
			Senders: rapid.IntRange(1, 3).Draw(t, "senders"),
		},
		packets: rapid.IntRange(1, 30).Draw(t, "packets"),
		takes:   milliseconds(300, "takes"),
		closeIn: milliseconds(5000, "close in"),
		fates:   rapid.SliceOfN(rapid.SampledFrom(fates), 1, 8).Draw(t, "fates"),
	}
	for range rapid.IntRange(1, 60).Draw(t, "taps") {
		p.taps = append(p.taps, tapOf(rapid.IntRange(1, 5).Draw(t, "player"), rapid.IntRange(1, 8).Draw(t, "drop")))
		p.pauses = append(p.pauses, milliseconds(400, "pause"))
	}
	return p
}

// run plays a plan and says what is wrong with what the taps heard.
func (p plan) run() error {
	pool := &fakeScript{packets: p.packets, takes: p.takes, fate: func(n int) callResult { return p.fates[n%len(p.fates)] }}
	c := New(pool, p.opts)
	var taken []*answerRecorder
	for i, tap := range p.taps {
		time.Sleep(p.pauses[i]) // of the bubble's clock
		e := &answerRecorder{tap: tap}
		if c.Submit(room, round, tap, e) {
			taken = append(taken, e)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.closeIn)
	defer cancel()
	if err := c.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if pool.most > p.opts.Senders {
		return fmt.Errorf("%d calls at once", pool.most)
	}
	for _, size := range pool.sizes() {
		if size < 1 || size > p.opts.Batch {
			return fmt.Errorf("a batch of %d taps", size)
		}
	}
	return pool.check(taken)
}

// check holds what taps heard against the claims that there are.
func (p *fakeScript) check(taken []*answerRecorder) error {
	won := make(map[game.Tap]bool)
	for _, e := range taken {
		answer, err := e.once()
		if err != nil {
			return err
		}
		claim, has := p.claims[e.tap]
		switch answer.Outcome {
		case game.Won, game.Duplicate:
			if !has || answer.Cents != claim.Cents || answer.Number != claim.Number {
				return fmt.Errorf("%v heard %v, its claim is %v", e.tap, answer, claim)
			}
			won[e.tap] = true
		case game.SoldOut:
			if has || len(p.claims) != p.packets {
				return fmt.Errorf("%v heard sold_out, its claim is %v, there are %d of %d", e.tap, claim, len(p.claims), p.packets)
			}
		case game.Frozen: // the keys were lost before anything was done: who won with this tap before was told then
		case game.Busy:
			won[e.tap] = true // it may be, nobody knows
		default:
			return fmt.Errorf("%v heard %v", e.tap, answer)
		}
	}
	for tap, claim := range p.claims {
		if !won[tap] {
			return fmt.Errorf("nobody was told of %v of %v", claim, tap)
		}
	}
	return nil
}

// Invariant 4, and one answer for every tap that was taken, whatever becomes of the calls.
func TestEveryTapHearsItsOwnResultOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		plan := drawPlan(rt)
		var err error
		synctest.Test(t, func(*testing.T) { err = plan.run() })
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// The same with many goroutines, for the race detector: they submit while the committer is closed under them.
func TestManyPlayersWhileItCloses(t *testing.T) {
	p := &fakeScript{packets: 500, fate: func(n int) callResult { return fates[n%6] }}
	c := New(p, Options{Queue: 50, Deadline: 100 * time.Millisecond})
	var players sync.WaitGroup
	var mu sync.Mutex
	var taken []*answerRecorder
	refusedAll := make(chan struct{})
	for player := range 16 {
		players.Go(func() {
			for drop := 1; ; drop++ {
				e := &answerRecorder{tap: tapOf(player, drop%40+1)}
				if c.Submit(room, round, e.tap, e) {
					mu.Lock()
					taken = append(taken, e)
					mu.Unlock()
				}
				select {
				case <-refusedAll:
					return
				default:
				}
				if drop == 200 && player == 0 { // the others are in the middle of it
					if err := c.Close(context.Background()); err != nil {
						t.Errorf("close: %v", err)
					}
					close(refusedAll)
				}
			}
		})
	}
	players.Wait()
	if err := p.check(taken); err != nil {
		t.Error(err)
	}
	if p.most > 2 {
		t.Errorf("%d calls at once", p.most)
	}
}
