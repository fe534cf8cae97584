package api

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/singleflight"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// historyMost is how many past rounds of a room are shown.
const historyMost = 50

type pastRound struct {
	Round          wire.Round `json:"round"`
	ClaimedPackets int        `json:"claimed_packets"`
	ClaimedCents   game.Cents `json:"claimed_cents"`
}

type historyAnswer struct {
	Rounds []pastRound `json:"rounds"`
}

// resultAnswer is what a settled round came to for one player. Rank is 0 for who won nothing.
type resultAnswer struct {
	Rank    int          `json:"rank"`
	Players int          `json:"players"`
	Claims  []wire.Claim `json:"claims"`
}

// showHistory lists what a room has played, for everybody: neither drafts, nor rehearsals, nor what was cancelled.
func (s *Server) showHistory(c echo.Context) error {
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	rounds, err := s.Rounds.PlayedRounds(c.Request().Context(), room.Code, historyMost)
	if err != nil {
		return err
	}
	past := make([]pastRound, len(rounds))
	for i, round := range rounds {
		past[i] = pastRound{wire.RoundOf(round), round.Claimed.Packets, round.Claimed.Cents}
	}
	return answer(c, http.StatusOK, historyAnswer{past})
}

// nextRound is what an audience may know of a draft: no amounts, which the host may still change.
type nextRound struct {
	Title    string      `json:"title"`
	StartsOn game.Moment `json:"starts_on"`
}

type nextAnswer struct {
	Next *nextRound `json:"next"`
}

// showNext tells everybody which draft starts by itself soonest, if any does. What the host starts by hand is a surprise.
func (s *Server) showNext(c echo.Context) error {
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	round, err := s.Rounds.NextPlanned(c.Request().Context(), room.Code)
	if errors.Is(err, game.ErrNotFound) {
		return answer(c, http.StatusOK, nextAnswer{})
	}
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, nextAnswer{&nextRound{round.Settings.Title, round.StartsOn}})
}

// showMyResult reads the books, which are final once a round is settled.
func (s *Server) showMyResult(c echo.Context) error {
	round, err := s.roundToOpen(c, 0)
	if err != nil {
		return err
	}
	me, err := s.playerOf(c, round.Room)
	if err != nil {
		return err
	}
	if round.Phase != game.Settled {
		return errWrongPhase
	}
	ranks, err := s.finals.of(c.Request().Context(), s.Results, round.ID)
	if err != nil {
		return err
	}
	claims, err := s.opened(c.Request().Context(), round, me)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, resultAnswer{ranks[me], len(ranks), wire.ClaimsOf(round.ID, claims)})
}

// finalsKept is how many settled rounds' ranks are remembered.
const finalsKept = 24

// finalsMost is how many ranks are remembered in all, but for the newest round's.
const finalsMost = 200_000

// finalsWithin bounds one look at the books for a round's ranks.
const finalsWithin = 10 * time.Second

// finals remembers the ranks of rounds that were settled lately: a whole audience asks for them at once, and each answer
// would cost the books a look at every claim. Safe for concurrent use.
type finals struct {
	reads singleflight.Group // by round

	mu     sync.Mutex                // not held while the books are asked
	ranks  map[string]map[string]int // round → player → rank, from 1
	rounds []string                  // oldest first
	held   int                       // ranks in all
}

// of returns the ranks of a settled round. Whoever asks meanwhile waits for the same answer, until ctx ends; the look at the
// books belongs to none of them, and goes on.
func (f *finals) of(ctx context.Context, results Results, round string) (map[string]int, error) {
	if ranks, known := f.known(round); known {
		return ranks, nil
	}
	read := f.reads.DoChan(round, func() (any, error) {
		if ranks, known := f.known(round); known { // since then
			return ranks, nil
		}
		return f.read(results, round)
	})
	select {
	case answer := <-read:
		ranks, _ := answer.Val.(map[string]int)
		return ranks, answer.Err
	case <-ctx.Done():
		return nil, ctx.Err() //nolint:wrapcheck // says itself what it is
	}
}

func (f *finals) known(round string) (map[string]int, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ranks, known := f.ranks[round]
	return ranks, known
}

func (f *finals) read(results Results, round string) (map[string]int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), finalsWithin)
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
	f.remember(round, ranks)
	return ranks, nil
}

func (f *finals) remember(round string, ranks map[string]int) {
	for len(f.rounds) == finalsKept || (len(f.rounds) > 0 && f.held+len(ranks) > finalsMost) {
		f.held -= len(f.ranks[f.rounds[0]])
		delete(f.ranks, f.rounds[0])
		f.rounds = f.rounds[1:]
	}
	if f.ranks == nil {
		f.ranks = make(map[string]map[string]int)
	}
	f.ranks[round], f.rounds = ranks, append(f.rounds, round)
	f.held += len(ranks)
}
