package live

import (
	"context"
	"time"

	"redrain/internal/game"
)

const (
	// activePace and idlePace are how often the loop that reads Redis reports, and publishes if it holds the room's lease and
	// something changed.
	activePace = 250 * time.Millisecond
	idlePace   = 500 * time.Millisecond
	// leastPause keeps a storm of nudges from becoming a storm of reads.
	leastPause = 20 * time.Millisecond
	// rereadAfter and hearWithin bound how long a lost message can go unnoticed: with the loop's pace after each, 2 s.
	rereadAfter = 1400 * time.Millisecond
	hearWithin  = 200 * time.Millisecond
	// leaseFor is short enough for another instance to publish within 2 s of this one's death.
	leaseFor = 1200 * time.Millisecond
	giveBack = 500 * time.Millisecond
)

// redisWithin bounds each step of the loop that reads Redis: one that hangs must not keep the others from their turn.
const redisWithin = time.Second

// read is the loop that does the room's work with Redis: it reads again what may have been missed, learns for good who claimed
// what once a round is over, reports who is here, and publishes the tally while it holds the lease. Nothing in it waits for SQL.
func (r *Room) read(ctx context.Context) {
	desk := &desk{room: r}
	var reread time.Time
	for {
		if r.stale.Swap(false) || time.Since(reread) >= rereadAfter {
			reread = time.Now()
			if !r.step(ctx, redisWithin, "read where the round stands", r.refresh) {
				r.stale.Store(true)
			}
		}
		r.step(ctx, redisWithin, "catch up", r.catchUp)
		r.step(ctx, redisWithin, "report", desk.report)
		r.step(ctx, redisWithin, "sweep", func(ctx context.Context) error { return desk.broom.sweep(ctx, r) })
		if !r.rest(ctx, r.wake) {
			break
		}
	}
	desk.giveBack()
}

// step takes one step of a loop within a deadline of its own, and reports whether it worked. A fault outside is logged; the
// loop tries again by itself.
func (r *Room) step(ctx context.Context, within time.Duration, doing string, do func(context.Context) error) bool {
	bounded, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := do(bounded)
	if err != nil && ctx.Err() == nil {
		r.opts.Log.Warn("cannot "+doing, "room", r.code, "error", err)
	}
	return err == nil
}

// rest waits for a nudge or for the next report to be due; false once the room ends.
func (r *Room) rest(ctx context.Context, wake <-chan struct{}) bool {
	if !sleep(ctx, leastPause) {
		return false
	}
	pace := idlePace
	r.mu.Lock()
	if r.rain != nil && r.rain.round.Phase.Active() {
		pace = activePace
	}
	r.mu.Unlock()
	timer := time.NewTimer(pace)
	defer timer.Stop()
	select {
	case <-wake:
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// catchUp reads every seat's claims again after something was missed, and once more when the round can grant nothing
// any more: from then on the gate answers from memory.
func (r *Room) catchUp(ctx context.Context) error {
	r.mu.Lock()
	rain := r.rain
	var over bool
	if rain != nil {
		over = rain.over()
	}
	needed := rain != nil && rain.round.StartsAt > 0 && ((over && !rain.final) || r.lost.Load() || rain.missed())
	r.mu.Unlock()
	if !needed {
		return nil
	}
	r.lost.Store(false)
	standing, err := r.opts.Pool.Snapshot(ctx, rain.round.ID, 0, 0)
	if keysLost(err) {
		return nil // there is nothing left to read
	}
	if err == nil { // who sits down from now on reads their own
		err = r.loadClaims(ctx, r.everySeat()...)
	}
	if err != nil {
		r.lost.Store(true)
		return err //nolint:wrapcheck // the caller says what for
	}
	r.caughtUp(rain, standing, over)
	return nil
}

func (r *Room) everySeat() []*Seat {
	r.mu.Lock()
	defer r.mu.Unlock()
	seats := make([]*Seat, 0, len(r.seats))
	for _, seat := range r.seats {
		seats = append(seats, seat)
	}
	return seats
}

func (r *Room) caughtUp(rain *rain, standing game.Standing, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rain.noteLeft(standing.Left)
	claimed := rain.round.Settings.Packets - standing.Left.Packets
	rain.highest = max(rain.highest, claimed)
	rain.applied = max(rain.applied, claimed)
	if rain.applied < rain.highest {
		r.lost.Store(true) // heard of claims that the snapshot did not have yet: once more
	}
	rain.final = rain.final || over
}
