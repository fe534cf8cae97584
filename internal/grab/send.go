package grab

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"time"

	"redrain/internal/game"
)

// The delays between tries of one batch, in growing, jittered steps; and how long one try may take.
const (
	firstDelay = 10 * time.Millisecond
	mostDelay  = 250 * time.Millisecond
	tryFor     = time.Second
)

// send is one sender of a round: it takes what waits, calls the script, hands out the answers, and ends when nothing waits.
func (c *Committer) send(q *queue) {
	var batch []waiting
	var taps []game.Tap
	for {
		// Whoever has read a tap by now may queue it first: batches grow by what is ready anyway, without a timer. Worth a
		// twelfth of the taps that the script refuses, and a twentieth of those that win (BenchmarkTaps).
		runtime.Gosched()
		batch = c.take(q, batch)
		if len(batch) == 0 {
			return
		}
		batch = c.dropExpired(batch)
		if len(batch) == 0 {
			continue
		}
		taps = taps[:0]
		for _, w := range batch {
			taps = append(taps, w.tap)
		}
		c.commit(q, batch, taps)
	}
}

// dropExpired answers busy to taps that were never sent within their deadline.
func (c *Committer) dropExpired(batch []waiting) []waiting {
	now := time.Now()
	late := 0
	for late < len(batch) && now.Sub(batch[late].since) >= c.opts.Deadline {
		late++
	}
	answerAll(batch[:late], game.Busy)
	return batch[late:]
}

// commit tries one batch until it has its answers, Redis refuses it, its round's keys are lost, or its oldest tap's deadline is
// over.
func (c *Committer) commit(q *queue, batch []waiting, taps []game.Tap) {
	deadline := batch[0].since.Add(c.opts.Deadline)
	delay := firstDelay
	unknown := false // an earlier try may have been done
	for try := 0; ; try++ {
		grabbed, err := c.try(q, taps, deadline)
		if err == nil {
			if unknown {
				ownWins(taps, grabbed.Answers)
			}
			c.opts.Grabbed(q.room, q.round, grabbed)
			for i, w := range batch {
				w.waiter.Answered(w.tap, grabbed.Answers[i])
			}
			return
		}
		unknown = unknown || (!errors.Is(err, game.ErrRefused) && !keysLost(err))
		c.opts.Log.Warn("a batch of taps did not come through", "round", q.round, "taps", len(taps), "try", try, "error", err)
		if final(err) || !c.pause(rand.N(delay)+delay/2, deadline) {
			answerAll(batch, failed(err, unknown))
			return
		}
		delay = min(2*delay, mostDelay)
	}
}

// try calls the script once, with one context for it all: they cost more than the rest of a small batch.
func (c *Committer) try(q *queue, taps []game.Tap, deadline time.Time) (game.Grabbed, error) {
	if soon := time.Now().Add(tryFor); soon.Before(deadline) {
		deadline = soon
	}
	ctx, cancel := context.WithDeadline(c.ending, deadline)
	defer cancel()
	grabbed, err := c.script.Grab(ctx, q.room, q.round, taps)
	if err == nil && len(grabbed.Answers) != len(taps) {
		return game.Grabbed{}, game.ErrUnknown
	}
	return grabbed, err //nolint:wrapcheck // the script says what it is
}

func final(err error) bool {
	refused := errors.Is(err, game.ErrRefused) && !errors.Is(err, game.ErrTryAgain)
	return refused || keysLost(err)
}

func keysLost(err error) bool { return errors.Is(err, game.ErrGone) || errors.Is(err, game.ErrTorn) }

// failed is what the taps of a batch hear that did not come through. A round whose keys are lost grants nothing until an operator
// has looked at it, so they hear frozen if nothing can have been done; after a try whose result is unknown, busy.
func failed(err error, unknown bool) game.Outcome {
	if !unknown && keysLost(err) {
		return game.Frozen
	}
	return game.Busy
}

// ownWins tells duplicates after a try whose result is unknown as what they are: this batch's own wins, whose first reply was
// lost. A second tap on the same drop in the batch stays a duplicate.
func ownWins(taps []game.Tap, answers []game.Answer) {
	seen := make(map[game.Tap]bool, len(taps))
	for i, tap := range taps {
		if answers[i].Outcome == game.Duplicate && !seen[tap] {
			answers[i].Outcome = game.Won
		}
		seen[tap] = true
	}
}

func answerAll(batch []waiting, outcome game.Outcome) {
	for _, w := range batch {
		w.waiter.Answered(w.tap, game.Answer{Outcome: outcome})
	}
}

// pause waits for d; false if the deadline would be over by then, or the Committer gives up.
func (c *Committer) pause(d time.Duration, deadline time.Time) bool {
	if !time.Now().Add(d).Before(deadline) {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.ending.Done():
		return false
	}
}
