package api

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/expirable"
	"github.com/labstack/echo/v4"
	"golang.org/x/sync/singleflight"

	"redrain/internal/game"
)

// newCache returns a cache of the size that keeps what was used last, for good: what may change is stored with its time.
func newCache[K comparable, V any](size int) *expirable.LRU[K, V] {
	return expirable.NewLRU[K, V](size, nil, 0)
}

// Bounds of a claimsCache, and for how long it serves a round that may still change.
const (
	maxCachedRounds  = 256
	maxCachedResults = 8192
	cachedRoundAge   = time.Second
)

type roundRead struct {
	round game.Round
	at    time.Time
}

type roundPlayer struct{ round, player string }

// claimsCache caches what all players of a room request at the same moment when they open their packets (拆): the rounds, and
// the claims of each player in a settled round, which never change again.
type claimsCache struct {
	rounds *expirable.LRU[string, roundRead]
	claims *expirable.LRU[roundPlayer, []game.Claim]
}

func newClaimsCache() claimsCache {
	return claimsCache{rounds: newCache[string, roundRead](maxCachedRounds), claims: newCache[roundPlayer, []game.Claim](maxCachedResults)}
}

// readCachedRound reads the round named in the path, or takes it from the cache if it was read less than age ago. A settled
// round never changes, so it is taken from the cache however old it is.
func (s *Server) readCachedRound(c echo.Context, age time.Duration) (game.Round, error) {
	id, err := parseRoundID(c)
	if err != nil {
		return game.Round{}, err
	}
	if known, ok := s.claimsCache.rounds.Get(id); ok && (known.round.Phase == game.Settled || s.Now().Sub(known.at) < age) {
		return known.round, nil
	}
	round, err := s.readRound(c)
	if err == nil {
		s.claimsCache.rounds.Add(id, roundRead{round, s.Now()})
	}
	return round, err
}

// readPlayerClaims returns the claims of a player in a round: from Redis until the round is settled, then from the ledger, once,
// and from the cache afterwards. Redis may have lost claims of a frozen round that the ledger has, so both are merged then.
func (s *Server) readPlayerClaims(ctx context.Context, round game.Round, player string) ([]game.Claim, error) {
	if round.Phase == game.Settled {
		return s.readSettledClaims(ctx, round.ID, player)
	}
	granted, err := s.Claims.ClaimsOf(ctx, round.ID, player)
	if err != nil || !round.Frozen {
		return granted[player], err
	}
	booked, err := s.Results.ClaimsOf(ctx, round.ID, player)
	return mergeClaims(booked[player], granted[player]), err
}

func (s *Server) readSettledClaims(ctx context.Context, round, player string) ([]game.Claim, error) {
	key := roundPlayer{round, player}
	if claims, ok := s.claimsCache.claims.Get(key); ok {
		return claims, nil
	}
	booked, err := s.Results.ClaimsOf(ctx, round, player)
	if err != nil {
		return nil, err
	}
	s.claimsCache.claims.Add(key, booked[player])
	return booked[player], nil
}

// mergeClaims returns the claims of one player that are in either list, in the order of their numbers.
func mergeClaims(booked, granted []game.Claim) []game.Claim {
	all := slices.Clone(booked)
	for _, claim := range granted {
		if !slices.ContainsFunc(booked, func(b game.Claim) bool { return b.Drop == claim.Drop }) {
			all = append(all, claim)
		}
	}
	slices.SortFunc(all, func(a, b game.Claim) int { return a.Number - b.Number })
	return all
}

// maxCachedRankings is for how many settled rounds the ranks are cached.
const maxCachedRankings = 24

// maxCachedRanks bounds the cached ranks of all rounds together. The newest round is cached even if it has more.
const maxCachedRanks = 200_000

// loadRanksTimeout bounds one read of a round's ranks from the ledger.
const loadRanksTimeout = 10 * time.Second

// ranksCache caches the ranks of recently settled rounds: all players request them at the same moment, and each computation
// reads every claim of the round from the ledger. It is bounded by the number of ranks, which a cache of a number of entries does not
// offer. Safe for concurrent use.
type ranksCache struct {
	loads singleflight.Group // by round

	mu     sync.Mutex                // not held during a load
	ranks  map[string]map[string]int // round → player → rank, from 1
	rounds []string                  // oldest first
	count  int                       // ranks of all rounds
}

// get returns the ranks of a settled round, from 1, by player. Concurrent callers share one load. A caller stops waiting when its
// ctx ends; the load continues for the others.
func (f *ranksCache) get(ctx context.Context, results Results, round string) (map[string]int, error) {
	if ranks, known := f.lookUp(round); known {
		return ranks, nil
	}
	read := f.loads.DoChan(round, func() (any, error) {
		if ranks, known := f.lookUp(round); known { // loaded since the first look
			return ranks, nil
		}
		return f.load(results, round)
	})
	select {
	case answer := <-read:
		ranks, _ := answer.Val.(map[string]int)
		return ranks, answer.Err
	case <-ctx.Done():
		return nil, ctx.Err() //nolint:wrapcheck // says itself what it is
	}
}

func (f *ranksCache) lookUp(round string) (map[string]int, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ranks, known := f.ranks[round]
	return ranks, known
}

func (f *ranksCache) load(results Results, round string) (map[string]int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), loadRanksTimeout)
	defer cancel()
	players, err := results.FinalRanks(ctx, round)
	if err != nil {
		return nil, err //nolint:wrapcheck // says itself what it could not do
	}
	ranks := make(map[string]int, len(players))
	for i, player := range players {
		ranks[player] = i + 1
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.store(round, ranks)
	return ranks, nil
}

func (f *ranksCache) store(round string, ranks map[string]int) {
	for len(f.rounds) == maxCachedRankings || (len(f.rounds) > 0 && f.count+len(ranks) > maxCachedRanks) {
		f.count -= len(f.ranks[f.rounds[0]])
		delete(f.ranks, f.rounds[0])
		f.rounds = f.rounds[1:]
	}
	if f.ranks == nil {
		f.ranks = make(map[string]map[string]int)
	}
	f.ranks[round], f.rounds = ranks, append(f.rounds, round)
	f.count += len(ranks)
}
