package api

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
)

// memory keeps up to most values; one more drops any other. Safe for concurrent use.
type memory[K comparable, V any] struct {
	most int

	mu   sync.Mutex
	held map[K]V
}

func (m *memory[K, V]) get(key K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.held[key]
	return value, ok
}

func (m *memory[K, V]) put(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held == nil {
		m.held = make(map[K]V)
	}
	if _, known := m.held[key]; !known && len(m.held) >= m.most {
		for other := range m.held {
			delete(m.held, other)
			break
		}
	}
	m.held[key] = value
}

// How much openings remembers, and how long a round that may still change.
const (
	roundsKept  = 256
	resultsKept = 8192
	roundFresh  = time.Second
)

type readRound struct {
	round game.Round
	at    time.Time
}

type opening struct{ round, player string }

// openings remembers what a whole audience asks for at once when it opens its packets (拆): the rounds, and what settled ones
// came to for each player, which never changes any more.
type openings struct {
	rounds  memory[string, readRound]
	results memory[opening, []game.Claim]
}

func newOpenings() openings {
	return openings{rounds: memory[string, readRound]{most: roundsKept}, results: memory[opening, []game.Claim]{most: resultsKept}}
}

// roundToOpen is roundOf as it was asked for up to age ago; a settled round is never asked for again.
func (s *Server) roundToOpen(c echo.Context, age time.Duration) (game.Round, error) {
	id, err := roundID(c)
	if err != nil {
		return game.Round{}, err
	}
	if known, ok := s.openings.rounds.get(id); ok && (known.round.Phase == game.Settled || s.Now().Sub(known.at) < age) {
		return known.round, nil
	}
	round, err := s.roundOf(c)
	if err == nil {
		s.openings.rounds.put(id, readRound{round, s.Now()})
	}
	return round, err
}

// opened is what a player has won in a round: from Redis while it is hot, from the books once it is settled, and from memory
// when that was asked before. Of a frozen round Redis may have lost what the books hold; both are told.
func (s *Server) opened(ctx context.Context, round game.Round, player string) ([]game.Claim, error) {
	if round.Phase == game.Settled {
		return s.openedSettled(ctx, round.ID, player)
	}
	granted, err := s.Claims.ClaimsOf(ctx, round.ID, player)
	if err != nil || !round.Frozen {
		return granted[player], err
	}
	booked, err := s.Results.ClaimsOf(ctx, round.ID, player)
	return both(booked[player], granted[player]), err
}

func (s *Server) openedSettled(ctx context.Context, round, player string) ([]game.Claim, error) {
	key := opening{round, player}
	if claims, ok := s.openings.results.get(key); ok {
		return claims, nil
	}
	booked, err := s.Results.ClaimsOf(ctx, round, player)
	if err != nil {
		return nil, err
	}
	s.openings.results.put(key, booked[player])
	return booked[player], nil
}

// both are the claims of one player in either, in the order of their numbers.
func both(booked, granted []game.Claim) []game.Claim {
	all := slices.Clone(booked)
	for _, claim := range granted {
		if !slices.ContainsFunc(booked, func(b game.Claim) bool { return b.Drop == claim.Drop }) {
			all = append(all, claim)
		}
	}
	slices.SortFunc(all, func(a, b game.Claim) int { return a.Number - b.Number })
	return all
}
