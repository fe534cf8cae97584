package api

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// Limits of a rehearsal. The bots run in this process, so they use the CPU that they measure.
const (
	maxBots       = 500
	maxBotsTaps   = 10
	noReport      = "null"
	fieldBots     = "players"
	fieldBotsTaps = "taps_per_second"
)

type rehearsalBody struct {
	Round         *string `json:"round"`
	Players       *int    `json:"players"`
	TapsPerSecond *int    `json:"taps_per_second"`
}

// rehearsal is a rehearsal as hosts see it; Report is what the bots measured, null until it is finished.
type rehearsal struct {
	Round         string              `json:"round"`
	Players       int                 `json:"players"`
	TapsPerSecond float64             `json:"taps_per_second"`
	State         game.RehearsalState `json:"state"`
	Problem       string              `json:"problem"`
	BegunAt       int64               `json:"begun_at"` // ms since 1970
	Report        jsontext.Value      `json:"report"`
}

type rehearsalAnswer struct {
	Rehearsal rehearsal `json:"rehearsal"`
}

type rehearsalsAnswer struct {
	Rehearsals []rehearsal `json:"rehearsals"`
}

func newRehearsal(r game.Rehearsal) rehearsal {
	shown := rehearsal{
		Round: r.Round, Players: r.Players, TapsPerSecond: r.Rate, State: r.State, Problem: r.Problem,
		BegunAt: r.BegunAt.UnixMilli(), Report: jsontext.Value(r.Report),
	}
	if r.Report == nil {
		shown.Report = jsontext.Value(noReport)
	}
	return shown
}

// rehearse starts a rehearsal of a copy of a round, with bots, in the room's hidden room.
func (s *Server) rehearse(c echo.Context) error {
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	var body rehearsalBody
	if err := readBody(c, &body); err != nil {
		return err
	}
	switch {
	case *body.Players < 1 || *body.Players > maxBots:
		return &game.Invalid{Code: "out_of_range", Field: fieldBots, Message: "players must be between 1 and 500"}
	case *body.TapsPerSecond < 1 || *body.TapsPerSecond > maxBotsTaps:
		return &game.Invalid{Code: "out_of_range", Field: fieldBotsTaps, Message: "taps_per_second must be between 1 and 10"}
	case !wire.IsUUID(*body.Round):
		return errRoundNotFound
	}
	round, err := s.Rounds.Round(c.Request().Context(), *body.Round)
	if err == nil && round.Room != room.Code {
		err = errRoundNotFound
	}
	if err != nil {
		return replaceNotFound(err, errRoundNotFound)
	}
	begun, err := s.Rehearsals.Rehearse(c.Request().Context(), room.Code, round.Settings, *body.Players, float64(*body.TapsPerSecond))
	if err != nil {
		return err
	}
	s.notifyHosts(c.Request().Context(), room.Code, game.NoticeRehearsalsChanged)
	return answer(c, http.StatusAccepted, rehearsalAnswer{newRehearsal(begun)})
}

func (s *Server) listRehearsals(c echo.Context) error {
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	rehearsals, err := s.Rehearsals.Rehearsals(c.Request().Context(), room.Code)
	if err != nil {
		return err
	}
	list := make([]rehearsal, len(rehearsals))
	for i, r := range rehearsals {
		list[i] = newRehearsal(r)
	}
	return answer(c, http.StatusOK, rehearsalsAnswer{list})
}
