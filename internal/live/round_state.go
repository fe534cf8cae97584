package live

import (
	"time"

	"redrain/internal/game"
)

// roundState is what this instance knows of a room's current round. The room's lock guards it.
type roundState struct {
	round    game.Round // its settings are from SQL, the rest is from the last snapshot of Redis
	schedule game.Schedule
	left     game.Total

	// Two of the three reasons why a round can be frozen: its flag in Redis is set, or Redis has lost its keys. The third is that it
	// is frozen in SQL.
	frozen, keysLost bool

	// Claims 1 to applied are known without a gap, and were added to the sessions of their players. highest is the highest number of a
	// claim seen. If it is greater than applied, claims between them were missed.
	applied, highest int
	// expected is how many claims a snapshot counted at expectedSince. If the events with these claims have not arrived within
	// eventTimeout, some were missed.
	expected      int
	expectedSince time.Time
	snapshotAt    game.Moment // Redis' time in the newest snapshot
	windowEnded   bool        // Redis' own clock said that the window has surely ended
	// final: the round can grant nothing any more, and the claims of every session were read after that. Only what Redis said leads to
	// it, never this instance's estimate of the time, which may be wrong for a while.
	final bool

	taps      int64 // taps on this instance
	sentUntil int64 // drops up to this many ms after starts_at were sent
}

const (
	// Drops are sent in batches of dropBatchMS, at least dropLeadMS before they fall. So there is one message a second for everybody.
	// It is staggered over that second like the tally, so that answers to taps never wait behind thousands of frames. A drop is on
	// screens for at most dropFallMS: a client that connects late is sent the drops that are still falling.
	dropBatchMS = 1000
	dropLeadMS  = 1500
	dropFallMS  = 4000
	// edgeMS is how close to the start and the end of the window only the script decides.
	edgeMS = 1000
)

func newRoundState(round game.Round, now game.Moment) *roundState {
	s := &roundState{round: round, left: game.Total{Packets: round.Settings.Packets, Cents: round.Settings.Total}, sentUntil: -1}
	s.schedule = game.NewSchedule(round.Settings, round.Secret)
	if round.StartsAt > 0 { // otherwise it is not opened in Redis, or this instance does not know yet
		s.sentUntil = s.firstVisibleMS(now)
	}
	return s
}

// elapsedMS is the time since starts_at, negative before.
func (s *roundState) elapsedMS(now game.Moment) int64 { return int64(now - s.round.StartsAt) }

// firstVisibleMS is after how many ms from starts_at a drop may still be on screens; −1 is before the first drop.
func (s *roundState) firstVisibleMS(now game.Moment) int64 {
	return max(-1, s.elapsedMS(now)-dropFallMS)
}

// takeDueDrops returns the drops that are due to be sent, once. urgent: some fall so soon that there is no time to stagger them.
func (s *roundState) takeDueDrops(now game.Moment) (drops []game.Drop, urgent bool) {
	if !s.round.Phase.Active() || s.round.StartsAt == 0 || s.sentUntil >= s.elapsedMS(now)+dropLeadMS {
		return nil, false
	}
	until := s.elapsedMS(now) + dropLeadMS + dropBatchMS
	drops = s.schedule.Between(s.sentUntil, until)
	s.sentUntil = until
	return drops, len(drops) > 0 && drops[0].AtMS < s.elapsedMS(now)+dropBatchMS
}

// visibleDrops returns the drops that were sent and are on screens now, or will be soon.
func (s *roundState) visibleDrops(now game.Moment) []game.Drop {
	if !s.round.Phase.Active() {
		return nil
	}
	return s.schedule.Between(s.firstVisibleMS(now), s.sentUntil)
}

// applySnapshot applies a snapshot of the round in Redis, and reports whether clients must be told of a change. sqlRound is the round
// as last read from SQL.
func (s *roundState) applySnapshot(sqlRound game.Round, snapshot game.Standing) bool {
	before := s.round
	// This instance lets the round rain as soon as its clock says so. If Redis still says countdown, either the snapshot is a little
	// old, and is ignored, or the clock was wrong, and the round goes back to its countdown.
	old := snapshot.Now < s.snapshotAt || snapshot.Now >= snapshot.StartsAt-edgeMS
	ignorePhase := s.round.Phase == game.Raining && snapshot.Phase == game.Countdown && old
	if !s.round.Phase.Over() && !ignorePhase {
		s.round.Phase = snapshot.Phase
	}
	if sqlRound.Phase == game.Settled {
		s.round.Phase = game.Settled
	}
	if s.round.StartsAt != snapshot.StartsAt {
		s.round.StartsAt = snapshot.StartsAt
		s.sentUntil = s.firstVisibleMS(snapshot.Now)
	}
	s.round.Reason, s.round.EndsAt = snapshot.Reason, snapshot.EndsAt
	s.frozen, s.keysLost = snapshot.Frozen, false
	s.updateFrozen(sqlRound)
	s.recordLeft(snapshot.Left)
	s.snapshotAt = max(s.snapshotAt, snapshot.Now)
	s.windowEnded = snapshot.EndsAt > 0 && snapshot.Now > snapshot.EndsAt+edgeMS
	s.final = s.final && s.isOver()
	if s.applied >= s.expected {
		s.expected, s.expectedSince = s.round.Settings.Packets-snapshot.Left.Packets, time.Now()
	}
	return differs(&before, &s.round)
}

// applyMissingKeys applies that Redis has no keys of the round, and reports whether clients must be told of a change. If SQL says that
// the round is over, it does not need its keys any more; if it was not opened, it has none yet. Any other round has lost its keys, and
// is frozen from now on, whatever SQL says later.
func (s *roundState) applyMissingKeys(sqlRound game.Round) bool {
	before := s.round
	if sqlRound.Phase.Over() && s.round.Phase != sqlRound.Phase {
		s.round.Phase, s.round.Reason = sqlRound.Phase, sqlRound.Reason
	}
	if s.round.StartsAt == 0 {
		s.round.StartsAt, s.round.EndsAt = sqlRound.StartsAt, sqlRound.EndsAt
	}
	s.frozen, s.keysLost = false, s.round.Phase.Active() && s.round.StartsAt > 0
	s.updateFrozen(sqlRound)
	return differs(&before, &s.round)
}

// updateFrozen sets whether the round is frozen, and why.
func (s *roundState) updateFrozen(sqlRound game.Round) {
	s.round.Frozen, s.round.FreezeReason = s.keysLost || s.frozen || sqlRound.Frozen, ""
	switch {
	case s.keysLost:
		s.round.FreezeReason = game.FrozenKeysLost
	case sqlRound.Frozen:
		s.round.FreezeReason = sqlRound.FreezeReason
	}
}

// recordLeft records how much is left, unless less is known to be left: packets never come back.
func (s *roundState) recordLeft(left game.Total) {
	if left.Packets < s.left.Packets {
		s.left = left
	}
}

// recordClaims records the numbers of a batch of claims. It returns false if claims before it are missing.
func (s *roundState) recordClaims(c *game.Claimed) bool {
	s.recordLeft(c.Left)
	first, last := c.Claims[0].Number, c.Claims[len(c.Claims)-1].Number
	s.highest = max(s.highest, last)
	if first > s.applied+1 {
		return false
	}
	s.applied = max(s.applied, last)
	return true
}

// claimsOverdue: events with claims that a snapshot counted should have arrived by now.
func (s *roundState) claimsOverdue() bool {
	return s.applied < s.expected && time.Since(s.expectedSince) >= eventTimeout
}

func (s *roundState) isSoldOut() bool { return s.left.Packets == 0 }

// isOver: nothing can be granted any more.
func (s *roundState) isOver() bool { return s.isSoldOut() || s.round.Phase.Over() || s.windowEnded }

// isSurelyOpen: the window is open, even if the estimate of Redis' clock is off by almost edgeMS.
func (s *roundState) isSurelyOpen(now game.Moment) bool {
	return s.round.Phase.Active() && !s.round.Frozen && now >= s.round.StartsAt+edgeMS && now < s.round.EndsAt-edgeMS
}

// allReleasedClaimed: this instance knows all claims, and there are as many of them as packets that can have been released by now.
func (s *roundState) allReleasedClaimed(now game.Moment, spread int64) bool {
	return s.applied >= s.round.Settings.Released(s.elapsedMS(now)+spread)
}

// checkDrop returns the outcome of a tap on a drop if it is the same for every player; false: the tap may win.
func (s *roundState) checkDrop(id game.DropID, now game.Moment, spread int64) (game.Outcome, bool) {
	drop, scheduled := s.schedule.Find(id)
	elapsed := s.elapsedMS(now)
	switch {
	case !scheduled:
		return game.UnknownDrop, true
	case s.round.StartsAt == 0 || elapsed < -edgeMS:
		return game.Early, true
	case drop.AtMS > max(elapsed, 0)+spread:
		return game.UnknownDrop, true
	}
	return "", false
}

// isBomb reports whether a drop is a bomb: what follows from its tap is for the script to say, for all tabs and instances.
func (s *roundState) isBomb(id game.DropID) bool {
	drop, scheduled := s.schedule.Find(id)
	return scheduled && drop.Kind == game.KindBomb
}
