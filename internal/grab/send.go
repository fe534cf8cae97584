package grab

import (
	"context"
	"errors"
	"math/rand/v2"
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
	answerBusy(batch[:late])
	return batch[late:]
}

// commit tries one batch until it has its answers, Redis refuses it, or its oldest tap's deadline is over.
func (c *Committer) commit(q *queue, batch []waiting, taps []game.Tap) {
	ctx, cancel := context.WithDeadline(c.ending, batch[0].since.Add(c.opts.Deadline))
	defer cancel()
	delay := firstDelay
	for try := 0; ; try++ {
		grabbed, err := c.try(ctx, q, taps)
		if err == nil {
			if try > 0 {
				ownWins(taps, grabbed.Answers)
			}
			c.opts.Grabbed(q.room, q.round, grabbed)
			for i, w := range batch {
				w.waiter.Answered(w.tap, grabbed.Answers[i])
			}
			return
		}
		c.opts.Log.Warn("a batch of taps did not come through", "round", q.round, "taps", len(taps), "try", try, "error", err)
		if final(err) || !pause(ctx, rand.N(delay)+delay/2) {
			answerBusy(batch)
			return
		}
		delay = min(2*delay, mostDelay)
	}
}

func (c *Committer) try(ctx context.Context, q *queue, taps []game.Tap) (game.Grabbed, error) {
	ctx, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	grabbed, err := c.script.Grab(ctx, q.room, q.round, taps)
	if err == nil && len(grabbed.Answers) != len(taps) {
		return game.Grabbed{}, game.ErrUnknown
	}
	return grabbed, err //nolint:wrapcheck // the script says what it is
}

func final(err error) bool {
	return errors.Is(err, game.ErrRefused) || errors.Is(err, game.ErrGone) || errors.Is(err, game.ErrTorn)
}

// ownWins tells a retry's duplicates as what they are: this batch's own wins, whose first reply was lost. A second tap on
// the same drop in the batch stays a duplicate.
func ownWins(taps []game.Tap, answers []game.Answer) {
	seen := make(map[game.Tap]bool, len(taps))
	for i, tap := range taps {
		if answers[i].Outcome == game.Duplicate && !seen[tap] {
			answers[i].Outcome = game.Won
		}
		seen[tap] = true
	}
}

func answerBusy(batch []waiting) {
	for _, w := range batch {
		w.waiter.Answered(w.tap, game.Answer{Outcome: game.Busy})
	}
}

// pause waits for d; false if ctx ended meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
