package live

import (
	"context"
	"errors"
	"time"

	"redrain/internal/game"
)

const (
	// activePace and idlePace are how often the reading loop reports, and publishes if it holds the room's lease and
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

// read is the loop that does the room's I/O: it reads again what may have been missed, learns for good who claimed what
// once a round is over, reports who is here, and publishes the tally while it holds the lease.
func (r *Room) read(ctx context.Context) {
	desk := &desk{room: r}
	var reread time.Time
	for woken := true; ; {
		if woken || time.Since(reread) >= rereadAfter {
			reread = time.Now()
			r.complain("read where the room stands", r.refresh(ctx))
			r.complain("keep blocked players out", r.keepOut(ctx))
		}
		r.complain("catch up", r.catchUp(ctx))
		r.complain("close a sold-out round", r.reportSoldOut(ctx))
		r.complain("report", desk.report(ctx))
		if !sleep(ctx, leastPause) {
			break
		}
		if woken = r.rest(ctx); ctx.Err() != nil {
			break
		}
	}
	desk.giveBack()
}

// rest waits for a nudge (true) or for the next report to be due.
func (r *Room) rest(ctx context.Context) bool {
	pace := idlePace
	r.mu.Lock()
	if r.rain != nil && r.rain.round.Phase.Active() {
		pace = activePace
	}
	r.mu.Unlock()
	timer := time.NewTimer(pace)
	defer timer.Stop()
	select {
	case <-r.wake:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
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

// complain logs a fault outside; the loop tries again by itself.
func (r *Room) complain(doing string, err error) {
	if err != nil {
		r.opts.Log.Warn("cannot "+doing, "room", r.code, "error", err)
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
	if errors.Is(err, game.ErrGone) {
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

// reportSoldOut says once, until it was heard, that the round's last packet is gone.
func (r *Room) reportSoldOut(ctx context.Context) error {
	r.mu.Lock()
	rain := r.rain
	gone := rain != nil && rain.soldOut() && rain.round.Phase == game.Raining && rain.round.Settings.CloseWhenSoldOut
	r.mu.Unlock()
	if !gone || r.opts.SoldOut == nil {
		return nil
	}
	return r.opts.SoldOut(ctx, rain.round.ID)
}
