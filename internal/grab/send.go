package grab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"redrain/internal/backoff"
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
	var batch []queuedTap
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
func (c *Committer) dropExpired(batch []queuedTap) []queuedTap {
	now := time.Now()
	late := 0
	for late < len(batch) && now.Sub(batch[late].since) >= c.opts.Deadline {
		late++
	}
	c.metrics.unanswered[expired].Add(float64(late))
	answerAll(batch[:late], game.Busy)
	return batch[late:]
}

// commit tries one batch until it has its answers, Redis refuses it, its round's keys are lost, or its oldest tap's deadline is
// over.
func (c *Committer) commit(q *queue, batch []queuedTap, taps []game.Tap) {
	deadline := batch[0].since.Add(c.opts.Deadline)
	delay := firstDelay
	name := c.script.NewBatch()
	unknown := false // an earlier try may have been done
	c.metrics.batchTaps.Observe(float64(len(taps)))
	for try := 0; ; try++ {
		grabbed, err := c.try(q, name, taps, deadline, unknown)
		if err == nil {
			c.answer(q, batch, grabbed)
			return
		}
		unknown = unknown || !nothingDone(err)
		c.opts.Log.Warn("a batch of taps did not come through", "round", q.round, "taps", len(taps), "try", try, "error", err)
		if isFinal(err) || !c.pause(rand.N(delay)+delay/2, deadline) {
			c.metrics.unanswered[failed].Add(float64(len(batch)))
			answerAll(batch, outcomeOfFailure(err, unknown))
			return
		}
		c.metrics.retries.Inc()
		delay = min(2*delay, mostDelay)
	}
}

// answer hands out the answers to a batch.
func (c *Committer) answer(q *queue, batch []queuedTap, grabbed game.Grabbed) {
	c.opts.Grabbed(q.room, q.round, grabbed)
	c.metrics.recordGranted(grabbed.Answers)
	now := time.Now()
	for i := range batch {
		c.opts.Answered.Observe(now.Sub(batch[i].since).Seconds())
		batch[i].handler.HandleAnswer(batch[i].tap, grabbed.Answers[i])
	}
}

// try calls the script once, with one context for it all: they cost more than the rest of a small batch. repeated: an earlier try
// may have been done.
func (c *Committer) try(q *queue, batch string, taps []game.Tap, deadline time.Time, repeated bool) (game.Grabbed, error) {
	since := time.Now()
	if soon := since.Add(tryFor); soon.Before(deadline) {
		deadline = soon
	}
	ctx, cancel := context.WithDeadline(c.ending, deadline)
	defer cancel()
	grabbed, err := c.script.Grab(ctx, q.room, q.round, batch, taps)
	c.metrics.recordCall(since, err)
	if err != nil {
		return game.Grabbed{}, err //nolint:wrapcheck // the script says what it is
	}
	if len(grabbed.Answers) != len(taps) {
		return game.Grabbed{}, game.ErrUnknown
	}
	if repeated {
		err = c.findOwnWins(ctx, q.round, batch, taps, grabbed.Answers)
	}
	return grabbed, err
}

// isFinal reports whether trying again would not help.
func isFinal(err error) bool { return nothingDone(err) && !errors.Is(err, game.ErrTryAgain) }

func nothingDone(err error) bool {
	return errors.Is(err, game.ErrRefused) || errors.Is(err, game.ErrGone) || errors.Is(err, game.ErrTorn)
}

// outcomeOfFailure is what the taps of a batch hear that did not come through. A round whose keys are lost grants nothing until an operator
// has looked at it, so they hear frozen if nothing can have been done; after an earlier try, whose result is unknown, busy.
func outcomeOfFailure(err error, unknown bool) game.Outcome {
	if !unknown && (errors.Is(err, game.ErrGone) || errors.Is(err, game.ErrTorn)) {
		return game.Frozen
	}
	return game.Busy
}

// findOwnWins calls duplicates what they are after a try whose result is unknown: wins of this batch, whose first reply was lost,
// or those of another batch, as of the player's other tab. A second tap on the same drop in the batch stays a duplicate. What
// one batch was granted has numbers in a row, so most often there is one to look for.
func (c *Committer) findOwnWins(ctx context.Context, round, batch string, taps []game.Tap, answers []game.Answer) error {
	seen := make(map[game.Tap]bool, len(taps))
	var first, last int // of the claims that were looked for last
	var own bool
	for i, tap := range taps {
		answer := &answers[i]
		if answer.Outcome == game.Duplicate && !seen[tap] {
			if answer.Number < first || answer.Number > last {
				granted, from, to, err := c.script.GrantedIn(ctx, round, answer.Number)
				if err != nil {
					return fmt.Errorf("find out whose claim %d is: %w: %w", answer.Number, game.ErrUnknown, err)
				}
				own, first, last = granted == batch || granted == "", from, to
			}
			if own {
				answer.Outcome = game.Won
			}
		}
		seen[tap] = true
	}
	return nil
}

func answerAll(batch []queuedTap, outcome game.Outcome) {
	for _, w := range batch {
		w.handler.HandleAnswer(w.tap, game.Answer{Outcome: outcome})
	}
}

// pause waits for d; false if the deadline would be over by then, or the Committer gives up.
func (c *Committer) pause(d time.Duration, deadline time.Time) bool {
	return time.Now().Add(d).Before(deadline) && backoff.Sleep(c.ending, d, nil)
}
