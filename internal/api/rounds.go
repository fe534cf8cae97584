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

// How many begun rounds one response may hold; maxRounds is also how many drafts are listed, ordered, exported and imported.
const (
	defaultRounds = 100
	maxRounds     = 500
)

// roundsPage is a page of a room's rounds; Next is the `after` of the next page, empty on the last one.
type roundsPage struct {
	Rounds []wire.Round `json:"rounds"`
	Next   string       `json:"next"`
}

type roundAndTallyAnswer struct {
	Round wire.Round `json:"round"`
	Tally wire.Tally `json:"tally"`
}

// previewAnswer holds the first amounts, and the minimum, the maximum and the mean (rounded down) of all, in cents.
type previewAnswer struct {
	Amounts []game.Cents `json:"amounts"`
	Min     game.Cents   `json:"min"`
	Max     game.Cents   `json:"max"`
	Mean    game.Cents   `json:"mean"`
}

const maxPreviewed = 200

// parseRoundID returns the round's id from the path. Anything but a UUID is refused before it reaches a database.
func parseRoundID(c echo.Context) (string, error) {
	id := c.Param("id")
	if !wire.IsUUID(id) {
		return "", errRoundNotFound
	}
	return id, nil
}

func (s *Server) readRound(c echo.Context) (game.Round, error) {
	id, err := parseRoundID(c)
	if err != nil {
		return game.Round{}, err
	}
	round, err := s.Rounds.Round(c.Request().Context(), id)
	return round, replaceNotFound(err, errRoundNotFound)
}

func (s *Server) createRound(c echo.Context) error {
	room, err := s.readRoom(c)
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
	if body.Rehearsal { // hidden from the players of the room
		if room, err = s.RoomAdmin.Stage(c.Request().Context(), room.Code); err != nil {
			return replaceNotFound(err, errRoomNotFound)
		}
	}
	round, err := s.Rounds.Create(c.Request().Context(), room.Code, settings, body.Rehearsal)
	if err != nil {
		return replaceNotFound(err, errRoomNotFound)
	}
	s.notifyHosts(c.Request().Context(), room.Code, game.NoticeRoundsChanged)
	return answer(c, http.StatusCreated, roundAnswer{wire.RoundOf(round)})
}

// previewRound shows amounts drawn with a throwaway secret. They reveal nothing about the amounts of the real round.
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
		Amounts: amounts[:min(maxPreviewed, len(amounts))],
		Min:     slices.Min(amounts),
		Max:     slices.Max(amounts),
		Mean:    settings.Total / game.Cents(settings.Packets),
	})
}

// listRounds lists the drafts of a room in the order in which they are to be played, and then the begun rounds, the last begun
// first. Only the first page has drafts.
func (s *Server) listRounds(c echo.Context) error {
	after, limit, err := parseRoundsPage(c)
	if err != nil {
		return err
	}
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	var drafts []game.Round
	if after == "" {
		if drafts, err = s.Rounds.Drafts(c.Request().Context(), room.Code, maxRounds); err != nil {
			return err
		}
	}
	begun, err := s.Rounds.BegunRounds(c.Request().Context(), room.Code, after, limit)
	if err != nil {
		return replaceNotFound(err, errRoundNotFound)
	}
	page := roundsPage{Rounds: newRoundsAnswer(append(drafts, begun...)).Rounds}
	if len(begun) == limit {
		page.Next = begun[limit-1].ID
	}
	return answer(c, http.StatusOK, page)
}

// parseRoundsPage returns which page of a room's begun rounds is requested: up to limit rounds that were begun before the round
// after.
func parseRoundsPage(c echo.Context) (after string, limit int, err error) {
	if limit, err = parseQueryInt(c, "limit", 1, maxRounds, defaultRounds); err != nil {
		return "", 0, err
	}
	if after = c.QueryParam("after"); after != "" && !wire.IsUUID(after) {
		return "", 0, errRoundNotFound
	}
	return after, limit, nil
}

func newRoundsAnswer(rounds []game.Round) roundsAnswer {
	list := make([]wire.Round, len(rounds))
	for i, round := range rounds {
		list[i] = wire.RoundOf(round)
	}
	return roundsAnswer{list}
}

// changeRound returns a handler that changes the phase of a round, or freezes or releases it, with one of the services' methods.
func changeRound(move func(ctx context.Context, id string) (game.Round, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := parseRoundID(c)
		if err != nil {
			return err
		}
		if err := readNoBody(c); err != nil {
			return err
		}
		round, err := move(c.Request().Context(), id)
		if err != nil {
			return replaceNotFound(err, errRoundNotFound)
		}
		return answer(c, http.StatusOK, roundAnswer{wire.RoundOf(round)})
	}
}

func (s *Server) showRound(c echo.Context) error {
	round, err := s.readRound(c)
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
