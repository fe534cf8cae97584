package rdb

import (
	"maps"
	"slices"

	"redrain/internal/game"
)

// model is a reference implementation of a round, one tap at a time, with amounts computed from the secret alone.
type model struct {
	round            game.Round
	startsAt, endsAt game.Moment
	reason           game.CloseReason // of a closed round
	frozen           bool
	left             game.Total
	holds            map[string]hold // of players who tapped a bomb
	dealt            []game.Cents
	claims           []game.Claim // in the order of their numbers
}

type hold struct {
	until game.Moment
	bomb  game.DropID
}

func newModel(round game.Round, startsAt, endsAt game.Moment) *model {
	return &model{
		holds: make(map[string]hold),
		round: round, startsAt: startsAt, endsAt: endsAt, dealt: amountsOf(round),
		left: game.Total{Packets: round.Settings.Packets, Cents: round.Settings.Total},
	}
}

func (m *model) grab(batch []game.Tap, now game.Moment) []game.Answer {
	answers := make([]game.Answer, len(batch))
	for i, tap := range batch {
		answers[i] = m.tap(tap, now)
	}
	return answers
}

func (m *model) tap(tap game.Tap, now game.Moment) game.Answer {
	held, isHeld := m.holds[tap.Player], now < m.holds[tap.Player].until
	switch {
	case tap.Bomb && isHeld && held.bomb != tap.Drop:
		return game.Answer{Outcome: game.Throttled}
	case tap.Bomb:
		if m.closedFor(now) == "" && !isHeld {
			m.holds[tap.Player] = hold{now + game.Moment(game.BombPenalty), tap.Drop}
		}
		return game.Answer{Outcome: game.Bomb}
	}
	had := 0
	for _, claim := range m.claims {
		if claim.Player == tap.Player && claim.Drop == tap.Drop {
			return game.Answer{Outcome: game.Duplicate, Cents: claim.Cents, Number: claim.Number}
		}
		if claim.Player == tap.Player {
			had++
		}
	}
	if refused := m.refusal(tap, now, had); refused != "" {
		return game.Answer{Outcome: refused}
	}
	claim := game.Claim{Player: tap.Player, Drop: tap.Drop, Cents: m.amount(), Number: len(m.claims) + 1}
	m.claims = append(m.claims, claim)
	m.left.Packets, m.left.Cents = m.left.Packets-1, m.left.Cents-claim.Cents
	return game.Answer{Outcome: game.Won, Cents: claim.Cents, Number: claim.Number}
}

// closedFor is what all taps without a claim hear; empty while the round is open.
func (m *model) closedFor(now game.Moment) game.Outcome {
	switch {
	case m.frozen:
		return game.Frozen
	case now < m.startsAt:
		return game.Early
	case m.reason == game.BySoldOut:
		return game.SoldOut
	case m.reason != "" || now >= m.endsAt:
		return game.Late
	}
	return ""
}

func (m *model) refusal(tap game.Tap, now game.Moment, had int) game.Outcome {
	s := m.round.Settings
	switch closed := m.closedFor(now); {
	case closed != "":
		return closed
	case had >= s.Cap:
		return game.Capped
	case m.left.Packets == 0:
		return game.SoldOut
	case now < m.holds[tap.Player].until:
		return game.Throttled
	case len(m.claims) >= s.Released(int64(now-m.startsAt)), int64(now-m.startsAt) >= s.EndMS(tap.Drop)+int64(game.DropGrace):
		return game.Missed
	}
	return ""
}

func (m *model) amount() game.Cents {
	n, s := len(m.claims), m.round.Settings
	if s.Split == game.SplitDealt {
		return m.dealt[n]
	}
	return game.LiveAmount(m.left.Cents, m.left.Packets, s.Min, s.Max, m.round.Secret.Draws("live").At(n))
}

// close returns the error expected for the reason at this time.
func (m *model) close(reason game.CloseReason, now game.Moment) error {
	switch {
	case m.reason != "":
		return nil
	case reason == game.ByTime && now < m.endsAt, reason == game.BySoldOut && m.left.Packets > 0:
		return game.ErrNotYet
	case reason == game.Cancelled && now >= m.startsAt:
		return game.ErrWrongPhase
	}
	m.reason = reason
	return nil
}

// players are those who have claims.
func (m *model) players() []string {
	seen := make(map[string]bool)
	for _, claim := range m.claims {
		seen[claim.Player] = true
	}
	return slices.Sorted(maps.Keys(seen))
}
