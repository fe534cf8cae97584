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
	dealt            []game.Cents
	claims           []game.Claim // in the order of their numbers
}

func newModel(round game.Round, startsAt, endsAt game.Moment) *model {
	return &model{
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
	had := 0
	for _, claim := range m.claims {
		if claim.Player == tap.Player && claim.Drop == tap.Drop {
			return game.Answer{Outcome: game.Duplicate, Cents: claim.Cents, Number: claim.Number}
		}
		if claim.Player == tap.Player {
			had++
		}
	}
	if refused := m.refusal(now, had); refused != "" {
		return game.Answer{Outcome: refused}
	}
	claim := game.Claim{Player: tap.Player, Drop: tap.Drop, Cents: m.amount(), Number: len(m.claims) + 1}
	m.claims = append(m.claims, claim)
	m.left.Packets, m.left.Cents = m.left.Packets-1, m.left.Cents-claim.Cents
	return game.Answer{Outcome: game.Won, Cents: claim.Cents, Number: claim.Number}
}

func (m *model) refusal(now game.Moment, had int) game.Outcome {
	switch {
	case m.frozen:
		return game.Frozen
	case now < m.startsAt:
		return game.Early
	case m.reason == game.BySoldOut:
		return game.SoldOut
	case m.reason != "" || now >= m.endsAt:
		return game.Late
	case had >= m.round.Settings.Cap:
		return game.Capped
	case m.left.Packets == 0:
		return game.SoldOut
	case len(m.claims) >= m.round.Settings.Released(int64(now-m.startsAt)):
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
