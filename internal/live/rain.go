package live

import (
	"time"

	"redrain/internal/game"
)

// rain is what this instance knows of a room's current round. The room's lock guards it.
type rain struct {
	round    game.Round // settings from SQL, the rest as Redis last said
	schedule game.Schedule
	left     game.Total

	// Two of the reasons why a round may be on hold: Redis has its flag set, and Redis has lost its keys. The third is SQL's.
	frozen, keysLost bool

	// Claims 1 to applied have been heard or read, without a gap, and are with the seats of the players who are here; highest
	// is the highest number heard of. They differ after something was missed.
	applied, highest int
	// owed claims were counted by a snapshot at owedSince: who has not heard of them a moment later has missed something.
	owed      int
	owedSince time.Time
	latest    game.Moment // of Redis' clock in the snapshots that were followed
	ended     bool        // Redis said, by its own clock, that the window is over beyond doubt
	// final: nothing can be granted any more, and every seat's claims have been read since. Only what Redis said leads to it,
	// never this instance's estimate of the time, which may be wrong for a while.
	final bool

	taps int64 // counted here
	sent int64 // drops up to this many ms after starts_at have been sent
}

const (
	// Drops are sent in waves of waveMS, at least leadMS before they fall: one message a second to everybody, spread over
	// that second like the tally, so that thousands of frames never stand in the way of the answers to taps. fallMS bounds
	// how long a drop may be on a screen, so that who comes late sees what falls.
	waveMS = 1000
	leadMS = 1500
	fallMS = 4000
	// edgeMS around the edges of the window only the script decides.
	edgeMS = 1000
)

func newRain(round game.Round, now game.Moment) *rain {
	r := &rain{round: round, left: game.Total{Packets: round.Settings.Packets, Cents: round.Settings.Total}, sent: -1}
	r.schedule = game.NewSchedule(round.Settings, round.Secret)
	if round.StartsAt > 0 { // else Redis has not opened it yet, or not told us
		r.sent = r.falling(now)
	}
	return r
}

// elapsed is the time since starts_at in ms, negative before.
func (r *rain) elapsed(now game.Moment) int64 { return int64(now - r.round.StartsAt) }

// falling is the moment in ms after starts_at from which on a drop may still be on screens; −1 is before the first.
func (r *rain) falling(now game.Moment) int64 { return max(-1, r.elapsed(now)-fallMS) }

// nextDrops takes the drops that are due to be sent by now. Urgent ones fall before they could have been spread.
func (r *rain) nextDrops(now game.Moment) (drops []game.Drop, urgent bool) {
	if !r.round.Phase.Active() || r.round.StartsAt == 0 || r.sent >= r.elapsed(now)+leadMS {
		return nil, false
	}
	until := r.elapsed(now) + leadMS + waveMS
	drops = r.schedule.Between(r.sent, until)
	r.sent = until
	return drops, len(drops) > 0 && drops[0].AtMS < r.elapsed(now)+waveMS
}

// sentDrops are those on screens now, or soon, that have been sent.
func (r *rain) sentDrops(now game.Moment) []game.Drop {
	if !r.round.Phase.Active() {
		return nil
	}
	return r.schedule.Between(r.falling(now), r.sent)
}

// follow takes over what Redis says, and reports whether it differs from what everybody was told. booked is the round as SQL
// was read last.
func (r *rain) follow(booked game.Round, s game.Standing) bool {
	before := r.round
	// A snapshot may be a little old. If not, the phase was turned by an estimate of the time that was wrong.
	old := s.Now < r.latest || s.Now >= s.StartsAt-edgeMS
	turnedBack := r.round.Phase == game.Raining && s.Phase == game.Countdown && old
	if !r.round.Phase.Over() && !turnedBack {
		r.round.Phase = s.Phase
	}
	if booked.Phase == game.Settled {
		r.round.Phase = game.Settled
	}
	if r.round.StartsAt != s.StartsAt {
		r.round.StartsAt = s.StartsAt
		r.sent = r.falling(s.Now)
	}
	r.round.Reason, r.round.EndsAt = s.Reason, s.EndsAt
	r.frozen, r.keysLost = s.Frozen, false
	r.hold(booked)
	r.noteLeft(s.Left)
	r.latest = max(r.latest, s.Now)
	r.ended = s.EndsAt > 0 && s.Now > s.EndsAt+edgeMS
	r.final = r.final && r.over()
	if r.applied >= r.owed {
		r.owed, r.owedSince = r.round.Settings.Packets-s.Left.Packets, time.Now()
	}
	return standsElsewhere(&before, &r.round)
}

// withoutKeys takes over that Redis has no keys of the round, and reports whether that differs from what everybody was told. One
// that SQL says is over had them for as long as they were needed; one that was not opened has none yet; any other has lost
// them, and is on hold from now on, whatever SQL may say later.
func (r *rain) withoutKeys(booked game.Round) bool {
	before := r.round
	if booked.Phase.Over() && r.round.Phase != booked.Phase {
		r.round.Phase, r.round.Reason = booked.Phase, booked.Reason
	}
	if r.round.StartsAt == 0 {
		r.round.StartsAt, r.round.EndsAt = booked.StartsAt, booked.EndsAt
	}
	r.frozen, r.keysLost = false, r.round.Phase.Active() && r.round.StartsAt > 0
	r.hold(booked)
	return standsElsewhere(&before, &r.round)
}

// hold works out whether the round is on hold, and why.
func (r *rain) hold(booked game.Round) {
	r.round.Frozen, r.round.FreezeReason = r.keysLost || r.frozen || booked.Frozen, ""
	switch {
	case r.keysLost:
		r.round.FreezeReason = game.FrozenKeysLost
	case booked.Frozen:
		r.round.FreezeReason = booked.FreezeReason
	}
}

// noteLeft believes what is less: packets only ever go.
func (r *rain) noteLeft(left game.Total) {
	if left.Packets < r.left.Packets {
		r.left = left
	}
}

// note takes one batch of claims; what it returns is false when numbers before it are missing.
func (r *rain) note(c *game.Claimed) bool {
	r.noteLeft(c.Left)
	first, last := c.Claims[0].Number, c.Claims[len(c.Claims)-1].Number
	r.highest = max(r.highest, last)
	if first > r.applied+1 {
		return false
	}
	r.applied = max(r.applied, last)
	return true
}

// missed: claims that must have been told by now were not heard of.
func (r *rain) missed() bool { return r.applied < r.owed && time.Since(r.owedSince) >= hearWithin }

func (r *rain) soldOut() bool { return r.left.Packets == 0 }

// over: nothing can be granted any more.
func (r *rain) over() bool { return r.soldOut() || r.round.Phase.Over() || r.ended }

// surelyOpen: the window is open beyond doubt, whatever the estimate of Redis' clock is off.
func (r *rain) surelyOpen(now game.Moment) bool {
	return r.round.Phase.Active() && !r.round.Frozen && now >= r.round.StartsAt+edgeMS && now < r.round.EndsAt-edgeMS
}

// allReleasedClaimed: by now no packet is released that this instance does not know to be claimed, and it knows every
// claim there is.
func (r *rain) allReleasedClaimed(now game.Moment, spread int64) bool {
	return r.applied >= r.round.Settings.Released(r.elapsed(now)+spread)
}

// judgeDrop says what a tap on a drop comes to whoever taps it; false: it may win.
func (r *rain) judgeDrop(id game.DropID, now game.Moment, spread int64) (game.Outcome, bool) {
	drop, scheduled := r.schedule.Find(id)
	elapsed := r.elapsed(now)
	switch {
	case !scheduled:
		return game.UnknownDrop, true
	case r.round.StartsAt == 0 || elapsed < -edgeMS:
		return game.Early, true
	case drop.AtMS > max(elapsed, 0)+spread:
		return game.UnknownDrop, true
	case drop.Kind == game.KindBomb:
		return game.Bomb, true
	}
	return "", false
}
