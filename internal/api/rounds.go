package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
	"redrain/internal/wire"
)

type roundAnswer struct {
	Round wire.Round `json:"round"`
}

type roundsAnswer struct {
	Rounds []wire.Round `json:"rounds"`
}

// How many rounds that were begun one answer may hold.
const (
	roundsUsual = 100
	roundsMost  = 500
)

// roundsPage is a part of a room's rounds; Next is the `after` of the next part, empty if this was the last one.
type roundsPage struct {
	Rounds []wire.Round `json:"rounds"`
	Next   string       `json:"next"`
}

type roundAndTallyAnswer struct {
	Round wire.Round `json:"round"`
	Tally wire.Tally `json:"tally"`
}

// previewAnswer shows the first amounts, and the least, the greatest and the mean (rounded down) of all of them, in cents.
type previewAnswer struct {
	Amounts []game.Cents `json:"amounts"`
	Min     game.Cents   `json:"min"`
	Max     game.Cents   `json:"max"`
	Mean    game.Cents   `json:"mean"`
}

const previewed = 200

// roundID is the id that the address names. Ids are UUIDs: anything else never reaches a database.
func roundID(c echo.Context) (string, error) {
	id := c.Param("id")
	if !wire.IsUUID(id) {
		return "", errRoundNotFound
	}
	return id, nil
}

func (s *Server) roundOf(c echo.Context) (game.Round, error) {
	id, err := roundID(c)
	if err != nil {
		return game.Round{}, err
	}
	round, err := s.Rounds.Round(c.Request().Context(), id)
	return round, orMissing(err, errRoundNotFound)
}

func (s *Server) createRound(c echo.Context) error {
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	body := newRoundBody()
	if err := readBody(c, &body); err != nil {
		return err
	}
	settings, err := body.settings()
	if err != nil {
		return err
	}
	if body.Rehearsal { // the room's people must not see it
		if room, err = s.Desk.Stage(c.Request().Context(), room.Code); err != nil {
			return orMissing(err, errRoomNotFound)
		}
	}
	round, err := s.Rounds.Create(c.Request().Context(), room.Code, settings, body.Rehearsal)
	if err != nil {
		return orMissing(err, errRoomNotFound)
	}
	s.tellHosts(c.Request().Context(), room.Code, noticeRounds)
	return answer(c, http.StatusCreated, roundAnswer{wire.RoundOf(round)})
}

// previewRound draws from a throwaway secret: what a host sees here says nothing about the round to come.
func (s *Server) previewRound(c echo.Context) error {
	body := newRoundBody()
	if err := readBody(c, &body); err != nil {
		return err
	}
	settings, err := body.settings()
	if err != nil {
		return err
	}
	amounts := game.Preview(settings)
	return answer(c, http.StatusOK, previewAnswer{
		Amounts: amounts[:min(previewed, len(amounts))],
		Min:     slices.Min(amounts),
		Max:     slices.Max(amounts),
		Mean:    settings.Total / game.Cents(settings.Packets),
	})
}

// listRounds lists the drafts of a room in the order in which they are to be played, and after them what was begun, the last
// first. Later parts are of what was begun alone.
func (s *Server) listRounds(c echo.Context) error {
	after, limit, err := roundsAfter(c)
	if err != nil {
		return err
	}
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	var drafts []game.Round
	if after == "" {
		if drafts, err = s.Rounds.Drafts(c.Request().Context(), room.Code, maxOrdered); err != nil {
			return err
		}
	}
	begun, err := s.Rounds.BegunRounds(c.Request().Context(), room.Code, after, limit)
	if err != nil {
		return orMissing(err, errRoundNotFound)
	}
	page := roundsPage{Rounds: roundsOf(append(drafts, begun...)).Rounds}
	if len(begun) == limit {
		page.Next = begun[limit-1].ID
	}
	return answer(c, http.StatusOK, page)
}

// roundsAfter is which part of a room's rounds is asked for: up to limit of those that were begun before the round after.
func roundsAfter(c echo.Context) (after string, limit int, err error) {
	if limit, err = number(c, "limit", 1, roundsMost, roundsUsual); err != nil {
		return "", 0, err
	}
	if after = c.QueryParam("after"); after != "" && !wire.IsUUID(after) {
		return "", 0, errRoundNotFound
	}
	return after, limit, nil
}

func roundsOf(rounds []game.Round) roundsAnswer {
	list := make([]wire.Round, len(rounds))
	for i, round := range rounds {
		list[i] = wire.RoundOf(round)
	}
	return roundsAnswer{list}
}

// step moves a round by one of the service's methods.
func step(move func(ctx context.Context, id string) (game.Round, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := roundID(c)
		if err != nil {
			return err
		}
		if err := readNoBody(c); err != nil {
			return err
		}
		round, err := move(c.Request().Context(), id)
		if err != nil {
			return orMissing(err, errRoundNotFound)
		}
		return answer(c, http.StatusOK, roundAnswer{wire.RoundOf(round)})
	}
}

func (s *Server) showRound(c echo.Context) error {
	round, err := s.roundOf(c)
	if err == nil && round.Rehearsal && !s.isHost(c) {
		err = errRoundNotFound
	}
	if err != nil {
		return err
	}
	tally, err := s.Tallies.Tally(c.Request().Context(), round)
	if err != nil {
		return err
	}
	tally.Type = wire.TypeTally
	return answer(c, http.StatusOK, roundAndTallyAnswer{wire.RoundOf(round), tally})
}
