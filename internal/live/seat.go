package live

import (
	"slices"
	"time"

	"golang.org/x/time/rate"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// Seat is one player in a room on this instance, over all their tabs: the bucket of taps, and what is known of their claims
// and spent drops. It outlives a reload.
type Seat struct {
	room     *Room
	player   string
	nickname string
	came     game.Moment // when the player entered, as far as this instance knows
	bucket   *rate.Limiter

	// The rest is guarded by the room's lock.
	members []Member
	empty   time.Time // since when no tab is open
	vacant  bool      // among the room's vacancies
	blocked bool

	// Of the rain that of names.
	of     *rain
	claims []game.Claim // in the order in which they were heard of
	loaded bool         // claims were read from Redis, and all since were heard
	spent  map[game.DropID]bool
	asking map[game.DropID]*pending // taps on their way to the pool
}

// in makes the seat remember things of this rain and forget another's.
func (s *Seat) in(r *rain) *Seat {
	if s.of != r {
		s.of, s.claims, s.loaded, s.spent, s.asking = r, nil, false, nil, nil
	}
	return s
}

// learn takes a claim that is not known yet, and tells it to all of the player's tabs but the one that hears of it as the
// result of its tap.
func (s *Seat) learn(claim game.Claim, tapped Member) {
	for _, known := range s.claims {
		if known.Number == claim.Number {
			return
		}
	}
	s.claims = append(s.claims, claim)
	if len(s.members) == 0 || (len(s.members) == 1 && s.members[0] == tapped) {
		return
	}
	frame := wire.Encode(wire.ClaimMade{Claim: wire.ClaimOf(s.of.round.ID, claim)})
	for _, m := range s.members {
		if m != tapped {
			m.Deliver(frame)
		}
	}
}

// heard takes a claim that came from Redis. If its tap still waits here for its answer, the tapping tab will hear it as that.
func (s *Seat) heard(claim game.Claim) {
	asking := s.asking[claim.Drop]
	if asking == nil {
		s.learn(claim, nil)
		return
	}
	asking.claim = claim
	s.learn(claim, asking.member)
}

// inOrder is the claims by their numbers.
func (s *Seat) inOrder() []game.Claim {
	claims := slices.Clone(s.claims)
	slices.SortFunc(claims, func(a, b game.Claim) int { return a.Number - b.Number })
	return claims
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
	Asked                    // the pool is asked; the handler receives the answer
	Elsewhere                // the tap is for a round that is not the room's current one: see Room.TapOther
)

// Tap judges one tap of a member's. What can no longer become false is told at once; everything else is asked of the pool.
func (s *Seat) Tap(round string, drop game.DropID, m Member, handler game.AnswerHandler) (game.Answer, Verdict) {
	allowed := s.bucket.Allow()
	now, spread := s.room.opts.Clock.Now(), s.room.opts.Clock.Spread()
	s.room.mu.Lock()
	r := s.room.rain
	if r == nil || r.round.ID != round {
		refused := !allowed || s.blocked
		s.room.mu.Unlock()
		return told(game.Throttled, refused, Elsewhere)
	}
	r.taps++
	allowed = allowed && !s.blocked // a blocked player's connections are being ended: nobody reads why
	if !allowed {
		s.room.mu.Unlock()
		return game.Answer{Outcome: game.Throttled}, Told
	}
	answer, known := s.in(r).judge(r, drop, now, spread)
	if known {
		s.room.mu.Unlock()
		return answer, Told
	}
	asking := &pending{seat: s, rain: r, member: m, handler: handler}
	s.ask(drop, asking)
	s.room.mu.Unlock()
	if !s.room.opts.Committer.Submit(s.room.code, round, game.Tap{Player: s.player, Drop: drop}, asking) {
		return asking.forget(drop), Told
	}
	return game.Answer{}, Asked
}

func (s *Seat) ask(drop game.DropID, asking *pending) {
	if s.asking == nil {
		s.asking = make(map[game.DropID]*pending)
	}
	if s.asking[drop] == nil {
		s.asking[drop] = asking
	}
}

func told(outcome game.Outcome, known bool, otherwise Verdict) (game.Answer, Verdict) {
	if known {
		return game.Answer{Outcome: outcome}, Told
	}
	return game.Answer{}, otherwise
}

// judge answers from memory what can no longer become false, in the script's order; false: the script must be asked.
func (s *Seat) judge(r *rain, id game.DropID, now game.Moment, spread int64) (game.Answer, bool) {
	if outcome, known := r.judgeDrop(id, now, spread); known {
		return game.Answer{Outcome: outcome}, true
	}
	if claim, ok := s.claimOf(id); ok {
		return game.Answer{Outcome: game.Duplicate, Cents: claim.Cents, Number: claim.Number}, true
	}
	outcome, known := s.judgeShut(r)
	if r.surelyOpen(now) {
		outcome, known = s.judgeOpen(r, id, now, spread)
	}
	return game.Answer{Outcome: outcome}, known
}

// judgeOpen answers while the window is open beyond doubt.
func (s *Seat) judgeOpen(r *rain, id game.DropID, now game.Moment, spread int64) (game.Outcome, bool) {
	switch {
	case len(s.claims) >= r.round.Settings.Cap: // then these are all that the player can ever have
		return game.Capped, true
	case s.loaded && r.final && r.soldOut():
		return game.SoldOut, true
	case s.spent[id]:
		return game.Missed, true
	case s.loaded && !r.soldOut() && r.allReleasedClaimed(now, spread):
		// Sound only because this instance then knows every claim there is, this player's too.
		s.spend(id)
		return game.Missed, true
	default:
		return "", false
	}
}

// judgeShut answers for rounds that can grant nothing any more, once this player's own claims are known for good.
func (s *Seat) judgeShut(r *rain) (game.Outcome, bool) {
	closed := r.round.Phase.Over()
	switch {
	case !s.loaded || !r.final || r.round.Frozen:
		return "", false
	case closed && r.round.Reason == game.BySoldOut:
		return game.SoldOut, true
	case closed || r.ended:
		return game.Late, true
	default:
		return "", false
	}
}

// pending is one tap on its way to the pool and back. The room's lock guards claim.
type pending struct {
	seat    *Seat
	rain    *rain
	member  Member
	handler game.AnswerHandler
	claim   game.Claim // heard of before the answer came
}

// HandleAnswer takes note of what the tap came to before the player hears it.
func (p *pending) HandleAnswer(tap game.Tap, answer game.Answer) {
	p.seat.room.mu.Lock()
	p.done(tap.Drop)
	answer = lateIfOver(p.overtaken(answer), p.rain.round)
	if answer.Outcome == game.Frozen && !p.rain.round.Frozen {
		p.seat.room.nudge() // it is not known here yet
	}
	if p.seat.of == p.rain {
		switch answer.Outcome {
		case game.Missed:
			p.seat.spend(tap.Drop)
		case game.Won, game.Duplicate:
			p.seat.learn(game.Claim{Player: tap.Player, Drop: tap.Drop, Cents: answer.Cents, Number: answer.Number}, p.member)
		}
	}
	p.seat.room.mu.Unlock()
	p.handler.HandleAnswer(tap, answer)
}

// overtaken is what a tap is to be told whose claim was heard of before its answer came. It was not told of the claim when the
// others were, so its result must. A lost answer has won; any other one came before the same player's tap from elsewhere, on
// the same drop, which won.
func (p *pending) overtaken(answer game.Answer) game.Answer {
	if p.claim.Number == 0 {
		return answer
	}
	switch answer.Outcome {
	case game.Won, game.Duplicate:
		return answer
	case game.Busy:
		return game.Answer{Outcome: game.Won, Cents: p.claim.Cents, Number: p.claim.Number}
	default:
		return game.Answer{Outcome: game.Duplicate, Cents: p.claim.Cents, Number: p.claim.Number}
	}
}

func (p *pending) done(drop game.DropID) {
	if p.seat.asking[drop] == p {
		delete(p.seat.asking, drop)
	}
}

// forget is for a tap that was not taken, and returns what it is to be told.
func (p *pending) forget(drop game.DropID) game.Answer {
	p.seat.room.mu.Lock()
	defer p.seat.room.mu.Unlock()
	p.done(drop)
	return p.overtaken(game.Answer{Outcome: game.Busy})
}
