package live

import (
	"context"
	"fmt"

	"redrain/internal/game"
)

// TapStatus says where the answer to a tap comes from.
type TapStatus int

// The values of TapStatus.
const (
	Answered   TapStatus = iota // the answer is known, and returned
	Submitted                   // the tap was submitted to the pool; the handler receives the answer
	OtherRound                  // nothing was done: the tap is for a round that is not the current one, see Room.TapOtherRound
)

// Tap handles a tap of one of the player's tabs. An answer that can no longer become wrong is returned at once; every other tap is
// submitted to the pool.
func (s *PlayerSession) Tap(round string, drop game.DropID, client Client, handler game.AnswerHandler) (game.Answer, TapStatus) {
	allowed := s.limiter.Allow()
	now, spread := s.room.opts.Clock.Now(), s.room.opts.Clock.Spread()
	s.room.mu.Lock()
	state := s.room.state
	if state == nil || state.round.ID != round {
		refused := !allowed || s.blocked
		s.room.mu.Unlock()
		if refused {
			return game.Answer{Outcome: game.Throttled}, Answered
		}
		return game.Answer{}, OtherRound
	}
	state.taps++
	allowed = allowed && !s.blocked // the connections of a blocked player are being closed: nobody reads the reason
	if !allowed {
		s.room.mu.Unlock()
		return game.Answer{Outcome: game.Throttled}, Answered
	}
	answer, known := s.forRound(state).answerFromMemory(state, drop, now, spread)
	if known {
		s.room.mu.Unlock()
		return answer, Answered
	}
	tap := game.Tap{Player: s.player, Drop: drop, Bomb: state.isBomb(drop)}
	pending := &pendingTap{session: s, state: state, client: client, handler: handler}
	s.addPendingTap(drop, pending)
	s.room.mu.Unlock()
	if !s.room.opts.Committer.Submit(s.room.code, round, tap, pending) {
		return pending.cancel(drop), Answered
	}
	return game.Answer{}, Submitted
}

// addPendingTap keeps the first pending tap on each drop.
func (s *PlayerSession) addPendingTap(drop game.DropID, pending *pendingTap) {
	if s.pendingTaps == nil {
		s.pendingTaps = make(map[game.DropID]*pendingTap)
	}
	if s.pendingTaps[drop] == nil {
		s.pendingTaps[drop] = pending
	}
}

// answerFromMemory returns an answer that can no longer become wrong. It checks in the order of the script. False: only the script
// knows the answer.
func (s *PlayerSession) answerFromMemory(state *roundState, id game.DropID, now game.Moment, spread int64) (game.Answer, bool) {
	if outcome, known := state.checkDrop(id, now, spread); known {
		return game.Answer{Outcome: outcome}, true
	}
	if state.isBomb(id) {
		return game.Answer{Outcome: game.Bomb}, state.final && s.claimsLoaded
	}
	if claim, ok := s.findClaim(id); ok {
		return game.Answer{Outcome: game.Duplicate, Cents: claim.Cents, Number: claim.Number}, true
	}
	outcome, known := s.checkFinishedRound(state)
	if state.isSurelyOpen(now) {
		outcome, known = s.checkOpenRound(state, id, now, spread)
	}
	return game.Answer{Outcome: outcome}, known
}

// checkOpenRound returns the outcome of a tap while the window is surely open; false: only the script knows it.
func (s *PlayerSession) checkOpenRound(state *roundState, id game.DropID, now game.Moment, spread int64) (game.Outcome, bool) {
	switch {
	case len(s.claims) >= state.round.Settings.Cap: // more than that nobody can claim, so none is unknown
		return game.Capped, true
	case s.claimsLoaded && state.final && state.isSoldOut():
		return game.SoldOut, true
	case s.missed[id]:
		return game.Missed, true
	case s.claimsLoaded && !state.isSoldOut() && state.allReleasedClaimed(now, spread):
		// This is right only because this instance then knows all claims, this player's too.
		s.markMissed(id)
		return game.Missed, true
	default:
		return "", false
	}
}

// checkFinishedRound returns the outcome of a tap on a round that can grant nothing any more, once all claims of this player are
// known; false: only the script knows it.
func (s *PlayerSession) checkFinishedRound(state *roundState) (game.Outcome, bool) {
	closed := state.round.Phase.Over()
	switch {
	case !s.claimsLoaded || !state.final || state.round.Frozen:
		return "", false
	case closed && state.round.Reason == game.BySoldOut:
		return game.SoldOut, true
	case closed || state.windowEnded:
		return game.Late, true
	default:
		return "", false
	}
}

// pendingTap is a tap that was submitted to the pool and is not answered yet.
type pendingTap struct {
	session *PlayerSession
	state   *roundState
	client  Client // the tab that tapped
	handler game.AnswerHandler
	claim   game.Claim // the player's claim of this drop if it arrives before the answer. The room's lock guards it.
}

// HandleAnswer records what the answer says, and passes it on to the tab.
func (p *pendingTap) HandleAnswer(tap game.Tap, answer game.Answer) {
	p.session.room.mu.Lock()
	p.remove(tap.Drop)
	answer = lateIfOver(p.correctAnswer(answer), p.state.round)
	if answer.Outcome == game.Frozen && !p.state.round.Frozen {
		p.session.room.requestSync() // this instance does not know yet that the round is frozen
	}
	if p.session.state == p.state {
		switch answer.Outcome {
		case game.Missed:
			p.session.markMissed(tap.Drop)
		case game.Won, game.Duplicate:
			p.session.addClaim(game.Claim{Player: tap.Player, Drop: tap.Drop, Cents: answer.Cents, Number: answer.Number}, p.client)
		}
	}
	p.session.room.mu.Unlock()
	p.handler.HandleAnswer(tap, answer)
}

// correctAnswer corrects an answer that contradicts a claim of the same drop by the same player. The claim arrived before the answer,
// and was sent to the player's other tabs but not to the one that tapped, so the answer must contain it. There are two cases:
//
//   - The answer is Busy: it is not known what became of the tap. The claim shows that it has won.
//   - The answer is another failure: the player has won the drop with a later tap from another tab, on another instance. So the
//     answer to this tap is Duplicate.
func (p *pendingTap) correctAnswer(answer game.Answer) game.Answer {
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

// remove needs the room's lock.
func (p *pendingTap) remove(drop game.DropID) {
	if p.session.pendingTaps[drop] == p {
		delete(p.session.pendingTaps, drop)
	}
}

// cancel removes a tap that the committer did not take, and returns the answer to it.
func (p *pendingTap) cancel(drop game.DropID) game.Answer {
	p.session.room.mu.Lock()
	defer p.session.room.mu.Unlock()
	p.remove(drop)
	return p.correctAnswer(game.Answer{Outcome: game.Busy})
}

// TapOtherRound handles a tap for which Tap returned OtherRound. The round may be a new one that this instance has not read yet, so it
// is looked up in SQL. An answer without an outcome means that the tap was submitted, and handler receives the answer. The error is
// game.ErrNotFound if the room has no such round or it was never opened; other errors say that SQL cannot be read. After an error
// nothing was done.
func (r *Room) TapOtherRound(
	ctx context.Context, session *PlayerSession, round string, drop game.DropID, handler game.AnswerHandler,
) (game.Answer, error) {
	other, err := r.opts.Books.Round(ctx, round)
	if err != nil {
		return game.Answer{}, fmt.Errorf("look up the round of a tap: %w", err)
	}
	if other.Room != r.code || other.Phase == game.Draft {
		return game.Answer{}, fmt.Errorf("the round of a tap: %w", game.ErrNotFound)
	}
	tap := game.Tap{Player: session.player, Drop: drop}
	if other.Phase.Active() { // in any other round nothing can be won any more, and the script knows what the player has won
		r.requestSync()
		now := r.opts.Clock.Now()
		state := newRoundState(other, now)
		if outcome, known := state.checkDrop(drop, now, r.opts.Clock.Spread()); known {
			return game.Answer{Outcome: outcome}, nil
		}
		tap.Bomb = state.isBomb(drop)
	}
	if !r.opts.Committer.Submit(r.code, round, tap, &lateAnswerHandler{handler, other}) {
		return game.Answer{Outcome: game.Busy}, nil
	}
	return game.Answer{}, nil
}

// lateAnswerHandler passes on the answer to a tap on another round, corrected by lateIfOver.
type lateAnswerHandler struct {
	game.AnswerHandler

	round game.Round
}

// HandleAnswer passes the answer on.
func (h *lateAnswerHandler) HandleAnswer(tap game.Tap, answer game.Answer) {
	h.AnswerHandler.HandleAnswer(tap, lateIfOver(answer, h.round))
}

// lateIfOver turns Frozen into Late for a round that is over and not frozen: the pool calls every round without keys frozen, and the
// keys of a round that is over may have been removed.
func lateIfOver(answer game.Answer, round game.Round) game.Answer {
	if answer.Outcome == game.Frozen && round.Phase.Over() && !round.Frozen {
		answer.Outcome = game.Late
	}
	return answer
}
