package live

import (
	"slices"
	"time"

	"golang.org/x/time/rate"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// PlayerSession is one player in a room on this instance, with all their tabs: the limiter of their taps, and what is known of
// their claims and missed drops. It survives a reload.
type PlayerSession struct {
	room     *Room
	player   string
	nickname string
	joinedAt game.Moment // when the session began
	limiter  *rate.Limiter

	// The room's lock guards the fields below.
	clients    []Client  // one for each tab
	idleSince  time.Time // when the last tab was closed
	queuedIdle bool      // it is in the room's idleSessions
	blocked    bool

	// The fields below are about the round of state.
	state        *roundState
	claims       []game.Claim                // in the order in which they became known
	claimsLoaded bool                        // the claims were read from Redis, and all later ones were received as events
	missed       map[game.DropID]bool        // drops that this player can no longer win
	pendingTaps  map[game.DropID]*pendingTap // taps that were submitted and are not answered yet
}

// forRound makes the session ready for a round: what it knew of another round is forgotten.
func (s *PlayerSession) forRound(state *roundState) *PlayerSession {
	if s.state != state {
		s.state, s.claims, s.claimsLoaded, s.missed, s.pendingTaps = state, nil, false, nil, nil
	}
	return s
}

// addClaim adds a claim that is not known yet, and sends it to all of the player's tabs except the given one: that one receives it
// as the result of its tap.
func (s *PlayerSession) addClaim(claim game.Claim, except Client) {
	for _, known := range s.claims {
		if known.Number == claim.Number {
			return
		}
	}
	s.claims = append(s.claims, claim)
	if len(s.clients) == 0 || (len(s.clients) == 1 && s.clients[0] == except) {
		return
	}
	frame := wire.Encode(wire.ClaimMade{Claim: wire.ClaimOf(s.state.round.ID, claim)})
	for _, client := range s.clients {
		if client != except {
			client.Send(frame)
		}
	}
}

// receiveClaim takes a claim that was read from Redis or received as an event. If a tap on its drop is not answered yet, the tab
// that tapped will receive the claim as the result of the tap, and not twice.
func (s *PlayerSession) receiveClaim(claim game.Claim) {
	pending := s.pendingTaps[claim.Drop]
	if pending == nil {
		s.addClaim(claim, nil)
		return
	}
	pending.claim = claim
	s.addClaim(claim, pending.client)
}

func (s *PlayerSession) claimsByNumber() []game.Claim {
	claims := slices.Clone(s.claims)
	slices.SortFunc(claims, func(a, b game.Claim) int { return a.Number - b.Number })
	return claims
}

func (s *PlayerSession) findClaim(drop game.DropID) (game.Claim, bool) {
	for _, claim := range s.claims {
		if claim.Drop == drop {
			return claim, true
		}
	}
	return game.Claim{}, false
}

func (s *PlayerSession) markMissed(drop game.DropID) {
	if s.missed == nil {
		s.missed = make(map[game.DropID]bool)
	}
	s.missed[drop] = true
}

// sessionIdleTimeout is how long the session of a player without tabs is kept, with its limiter and its missed drops.
const sessionIdleTimeout = time.Minute

// idleSessions is a queue of sessions that became idle, the earliest first, so that expired ones are found without a look at all
// sessions. A session may have tabs again by the time it is due. The room's lock guards it.
type idleSessions []idleSession

type idleSession struct {
	session *PlayerSession
	since   time.Time
}

func (q *idleSessions) add(session *PlayerSession) {
	if !session.queuedIdle {
		session.queuedIdle = true
		*q = append(*q, idleSession{session, session.idleSince})
	}
}

// expire calls remove with the sessions that have had no tabs for longer than sessionIdleTimeout.
func (q *idleSessions) expire(remove func(*PlayerSession)) {
	for len(*q) > 0 && time.Since((*q)[0].since) > sessionIdleTimeout {
		session := (*q)[0].session
		*q = (*q)[1:]
		session.queuedIdle = false
		switch {
		case len(session.clients) > 0: // it is added again when they leave
		case time.Since(session.idleSince) > sessionIdleTimeout:
			remove(session)
		default:
			q.add(session)
		}
	}
}

// removeSession removes an expired session, unless the player has a newer one. Needs mu.
func (r *Room) removeSession(session *PlayerSession) {
	if r.sessions[session.player] == session {
		delete(r.sessions, session.player)
	}
}
