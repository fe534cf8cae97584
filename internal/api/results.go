package api

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// maxHistory is how many finished rounds of a room are shown.
const maxHistory = 50

type pastRound struct {
	Round          wire.Round `json:"round"`
	ClaimedPackets int        `json:"claimed_packets"`
	ClaimedCents   game.Cents `json:"claimed_cents"`
}

type historyAnswer struct {
	Rounds []pastRound `json:"rounds"`
}

// resultAnswer is the result of a settled round for one player. Rank is 0 if the player won nothing.
type resultAnswer struct {
	Rank    int          `json:"rank"`
	Players int          `json:"players"`
	Claims  []wire.Claim `json:"claims"`
}

// showHistory lists the finished rounds of a room for everybody, without rehearsals and cancelled rounds.
func (s *Server) showHistory(c echo.Context) error {
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	rounds, err := s.Rounds.PlayedRounds(c.Request().Context(), room.Code, maxHistory)
	if err != nil {
		return err
	}
	past := make([]pastRound, len(rounds))
	for i, round := range rounds {
		past[i] = pastRound{wire.RoundOf(round), round.Claimed.Packets, round.Claimed.Cents}
	}
	return answer(c, http.StatusOK, historyAnswer{past})
}

// nextRound is what players may know of a draft. It has no amounts, since the host may still change them.
type nextRound struct {
	Title    string      `json:"title"`
	StartsOn game.Moment `json:"starts_on"`
}

type nextAnswer struct {
	Next *nextRound `json:"next"`
}

// showNext shows everybody the draft with the earliest scheduled start, if there is one. Drafts without a schedule are not shown.
func (s *Server) showNext(c echo.Context) error {
	room, err := s.readRoom(c)
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

// showMyResult shows the result of a settled round for the calling player, from the ledger.
func (s *Server) showMyResult(c echo.Context) error {
	round, err := s.readCachedRound(c, 0)
	if err != nil {
		return err
	}
	me, err := s.playerID(c, round.Room)
	if err != nil {
		return err
	}
	if round.Phase != game.Settled {
		return errWrongPhase
	}
	ranks, err := s.ranksCache.get(c.Request().Context(), s.Results, round.ID)
	if err != nil {
		return err
	}
	claims, err := s.readPlayerClaims(c.Request().Context(), round, me)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, resultAnswer{ranks[me], len(ranks), wire.ClaimsOf(round.ID, claims)})
}
