package live

import (
	"context"
	"time"

	"redrain/internal/backoff"
	"redrain/internal/game"
)

const (
	// activeInterval and idleInterval are how often the Redis sync loop reports, and publishes the tally if it holds the room's lease
	// and the tally changed: while a round is active, and else.
	activeInterval = 250 * time.Millisecond
	idleInterval   = 500 * time.Millisecond
	// minPause is the least time between two turns of a sync loop, however often it is woken.
	minPause = 20 * time.Millisecond
	// A lost event is noticed within 2 s: after resyncInterval everything is read again, claims that it counts may take eventTimeout
	// more to arrive as events, and each of the two steps may wait for the next turn of the loop.
	resyncInterval = 1400 * time.Millisecond
	eventTimeout   = 200 * time.Millisecond
	// leaseDuration is so short that another instance publishes within 2 s after the holder of the lease died.
	leaseDuration  = 1200 * time.Millisecond
	releaseTimeout = 500 * time.Millisecond
	// redisTimeout limits each step of the Redis sync loop, so that one that hangs does not keep it from the others.
	redisTimeout = time.Second
)

// redisSyncLoop reads again what may have been missed, reads all claims once a round is over, reports who is online, and publishes the
// tally while it holds the room's lease. It never waits for SQL.
func (r *Room) redisSyncLoop(ctx context.Context) {
	publisher := &tallyPublisher{room: r}
	var lastSync time.Time
	for {
		if r.redisStale.Swap(false) || time.Since(lastSync) >= resyncInterval {
			lastSync = time.Now()
			if !r.runStep(ctx, redisTimeout, "read where the round stands", r.readRedisRound) {
				r.redisStale.Store(true)
			}
		}
		r.runStep(ctx, redisTimeout, "catch up", r.catchUpClaims)
		r.runStep(ctx, redisTimeout, "report", publisher.report)
		r.runStep(ctx, redisTimeout, "sweep", func(ctx context.Context) error { return publisher.sweeper.sweepPage(ctx, r) })
		if !r.waitForTurn(ctx, r.redisWake) {
			break
		}
	}
	publisher.releaseLease()
}

// runStep runs one step of a sync loop with a timeout, and reports whether it succeeded. An error is logged; a later turn of the loop
// tries again.
func (r *Room) runStep(ctx context.Context, timeout time.Duration, name string, step func(context.Context) error) bool {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := step(limited)
	if err != nil && ctx.Err() == nil {
		r.opts.Log.Warn("cannot "+name, "room", r.code, "error", err)
	}
	return err == nil
}

// waitForTurn waits until a sync loop is woken or its interval is over. It returns false once the room is stopped.
func (r *Room) waitForTurn(ctx context.Context, wake <-chan struct{}) bool {
	if !backoff.Sleep(ctx, minPause, nil) {
		return false
	}
	interval := idleInterval
	r.mu.Lock()
	if r.state != nil && r.state.round.Phase.Active() {
		interval = activeInterval
	}
	r.mu.Unlock()
	return backoff.Sleep(ctx, interval, wake)
}

// catchUpClaims reads the claims of all sessions again after some were missed, and once more when the round can grant nothing any more:
// from then on taps are answered from memory.
func (r *Room) catchUpClaims(ctx context.Context) error {
	r.mu.Lock()
	state := r.state
	var over bool
	if state != nil {
		over = state.isOver()
	}
	needed := state != nil && state.round.StartsAt > 0 &&
		((over && !state.final) || r.claimsMissed.Load() || state.claimsOverdue())
	r.mu.Unlock()
	if !needed {
		return nil
	}
	r.claimsMissed.Store(false)
	snapshot, err := r.opts.Pool.Snapshot(ctx, state.round.ID, 0, 0)
	if isKeysLost(err) {
		return nil // there is nothing left to read
	}
	if err == nil { // a session that begins from now on reads its own claims
		err = r.loadClaims(ctx, r.listSessions()...)
	}
	if err != nil {
		r.claimsMissed.Store(true)
		return err //nolint:wrapcheck // the caller says what for
	}
	r.recordCatchUp(state, snapshot, over)
	return nil
}

func (r *Room) listSessions() []*PlayerSession {
	r.mu.Lock()
	defer r.mu.Unlock()
	sessions := make([]*PlayerSession, 0, len(r.sessions))
	for _, session := range r.sessions {
		sessions = append(sessions, session)
	}
	return sessions
}

// recordCatchUp records that all claims which a snapshot counted are known now.
func (r *Room) recordCatchUp(state *roundState, snapshot game.Standing, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	state.recordLeft(snapshot.Left)
	claimed := state.round.Settings.Packets - snapshot.Left.Packets
	state.highest = max(state.highest, claimed)
	state.applied = max(state.applied, claimed)
	if state.applied < state.highest {
		r.claimsMissed.Store(true) // there are claims that are newer than the snapshot: catch up once more
	}
	state.final = state.final || over
}

// presenceSweeper removes the presence marks of instances that are gone, a page at a time, so that reports can be made in between. It
// is used only by the Redis sync loop.
type presenceSweeper struct {
	garbage int    // how many such marks the last report counted; 0 without the lease
	cursor  string // of the next page; empty: the first
	removed int    // marks removed since the first page
	// notFound is the count of garbage of which a whole search found nothing, and searchedAt is when that was.
	notFound   int
	searchedAt time.Time
}

// searchAgainAfter is how long garbage of which nothing was found is left alone: the count may be wrong because somebody changed the
// keys by hand.
const searchAgainAfter = time.Minute

// sweepPage removes one page if there is garbage, and wakes the loop for the next one.
func (s *presenceSweeper) sweepPage(ctx context.Context, r *Room) error {
	if s.garbage != s.notFound {
		s.notFound = 0
	}
	if s.garbage == 0 || (s.notFound > 0 && time.Since(s.searchedAt) < searchAgainAfter) {
		s.cursor, s.removed = "", 0
		return nil
	}
	cursor := s.cursor
	if cursor == "" {
		cursor = "0"
	}
	swept, err := r.opts.Pool.Sweep(ctx, r.code, cursor)
	if err != nil {
		return err //nolint:wrapcheck // the caller says what for
	}
	s.cursor, s.removed = swept.Cursor, s.removed+swept.Removed
	if s.cursor == "0" {
		s.finishSearch()
	}
	wakeLoop(r.redisWake)
	return nil
}

// finishSearch is called after the last page. The next report says whether there is more garbage.
func (s *presenceSweeper) finishSearch() {
	if s.removed == 0 {
		s.notFound, s.searchedAt = s.garbage, time.Now()
	} else {
		s.garbage = 0
	}
	s.cursor, s.removed = "", 0
}
