package live

import (
	"time"

	"golang.org/x/time/rate"

	"redrain/internal/game"
)

// Seat is one player in a room on this instance, over all their tabs: the bucket of taps, and what is known of their claims
// and spent drops. It outlives a reload.
type Seat struct {
	room     *Room
	player   string
	nickname string
	bucket   *rate.Limiter

	// The rest is guarded by the room's lock.
	members []Member
	empty   time.Time // since when no tab is open

	// Of the rain that of names.
	of     *rain
	claims []game.Claim // in the order of their numbers once loaded
	loaded bool         // claims were read from Redis, and all since were heard
	spent  map[game.DropID]bool
}

// in makes the seat remember things of this rain and forget another's.
func (s *Seat) in(r *rain) *Seat {
	if s.of != r {
		s.of, s.claims, s.loaded, s.spent = r, nil, false, nil
	}
	return s
}

// add takes a claim that is not known yet; false if it is.
func (s *Seat) add(claim game.Claim) bool {
	for _, known := range s.claims {
		if known.Number == claim.Number {
			return false
		}
	}
	s.claims = append(s.claims, claim)
	return true
}

func (s *Seat) claimOf(drop game.DropID) (game.Claim, bool) {
	for _, claim := range s.claims {
		if claim.Drop == drop {
			return claim, true
		}
	}
	return game.Claim{}, false
}

func (s *Seat) spend(drop game.DropID) {
	if s.spent == nil {
		s.spent = make(map[game.DropID]bool)
	}
	s.spent[drop] = true
}

// Verdict says where the answer to a tap comes from.
type Verdict int

// The verdicts.
const (
	Told      Verdict = iota // the answer is known, and returned
	Asked                    // the pool is asked; the waiter hears the answer
	Elsewhere                // the tap is for a round that is not the room's current one: see Room.TapOther
)

// Tap judges one tap. What can no longer become false is told at once; everything else is asked of the pool.
func (s *Seat) Tap(round string, drop game.DropID, waiter game.Waiter) (game.Answer, Verdict) {
	allowed := s.bucket.Allow()
	now, spread := s.room.opts.Clock.Now(), s.room.opts.Clock.Spread()
	s.room.mu.Lock()
	r := s.room.rain
	if r == nil || r.round.ID != round {
		s.room.mu.Unlock()
		return told(game.Throttled, !allowed, Elsewhere)
	}
	r.taps++
	if !allowed {
		s.room.mu.Unlock()
		return game.Answer{Outcome: game.Throttled}, Told
	}
	answer, known := s.in(r).judge(r, drop, now, spread)
	s.room.mu.Unlock()
	if known {
		return answer, Told
	}
	asked := &pending{seat: s, rain: r, waiter: waiter}
	if !s.room.opts.Committer.Submit(s.room.code, round, game.Tap{Player: s.player, Drop: drop}, asked) {
		return game.Answer{Outcome: game.Busy}, Told
	}
	return game.Answer{}, Asked
}

func told(outcome game.Outcome, known bool, otherwise Verdict) (game.Answer, Verdict) {
	if known {
		return game.Answer{Outcome: outcome}, Told
	}
	return game.Answer{}, otherwise
}

// judge answers from memory what can no longer become false, in the script's order; false: the script must be asked.
func (s *Seat) judge(r *rain, id game.DropID, now game.Moment, spread int64) (game.Answer, bool) {
	drop, scheduled := r.schedule.Find(id)
	elapsed := r.elapsed(now)
	switch {
	case !scheduled:
		return game.Answer{Outcome: game.UnknownDrop}, true
	case r.round.StartsAt == 0 || elapsed < -edgeMS:
		return game.Answer{Outcome: game.Early}, true
	case drop.AtMS > max(elapsed, 0)+spread:
		return game.Answer{Outcome: game.UnknownDrop}, true
	case drop.Kind == game.KindBomb:
		return game.Answer{Outcome: game.Bomb}, true
	}
	if claim, ok := s.claimOf(id); ok {
		return game.Answer{Outcome: game.Duplicate, Cents: claim.Cents, Number: claim.Number}, true
	}
	if outcome, known := s.judgeOver(r, now); known {
		return game.Answer{Outcome: outcome}, true
	}
	if s.spent[id] && r.surelyOpen(now) {
		return game.Answer{Outcome: game.Missed}, true
	}
	return s.judgeReleased(r, id, now, spread)
}

// judgeOver answers for rounds that can grant nothing any more, once this player's own claims are known for good.
func (s *Seat) judgeOver(r *rain, now game.Moment) (game.Outcome, bool) {
	closed := r.round.Phase.Over()
	switch {
	case !s.loaded || !r.final || r.round.Frozen:
		return "", false
	case closed && r.round.Reason == game.BySoldOut:
		return game.SoldOut, true
	case closed || r.late(now):
		return game.Late, true
	case !r.surelyOpen(now):
		return "", false
	case len(s.claims) >= r.round.Settings.Cap:
		return game.Capped, true
	default:
		return game.SoldOut, true
	}
}

// judgeReleased answers missed while every released packet is known to be claimed. It is sound only because this instance
// then knows every claim there is, this player's too.
func (s *Seat) judgeReleased(r *rain, id game.DropID, now game.Moment, spread int64) (game.Answer, bool) {
	if !s.loaded || !r.surelyOpen(now) || r.soldOut() || !r.allReleasedClaimed(now, spread) {
		return game.Answer{}, false
	}
	if len(s.claims) >= r.round.Settings.Cap {
		return game.Answer{Outcome: game.Capped}, true
	}
	s.spend(id)
	return game.Answer{Outcome: game.Missed}, true
}

// pending is one tap on its way to the pool and back.
type pending struct {
	seat   *Seat
	rain   *rain
	waiter game.Waiter
}

// Answered remembers a missed drop before the player hears of it. A claim is taken note of when it is heard from Redis, or
// read there, and then told to all of the player's tabs.
func (p *pending) Answered(tap game.Tap, answer game.Answer) {
	if answer.Outcome == game.Missed {
		p.seat.room.mu.Lock()
		if p.seat.of == p.rain {
			p.seat.spend(tap.Drop)
		}
		p.seat.room.mu.Unlock()
	}
	p.waiter.Answered(tap, answer)
}
