package api

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"redrain/internal/game"
	"redrain/internal/wire"
)

const (
	// maxRoundsFileBytes bounds an imported file: maxRounds with the longest titles, all tiers, and indented by hand.
	maxRoundsFileBytes = maxRounds * (8 << 10)
	// maxPlanAhead is how far in the future a start may be scheduled.
	maxPlanAhead = 366 * 24 * time.Hour
)

type orderBody struct {
	Rounds *[]string `json:"rounds"`
}

// orderDrafts sets the order in which the drafts of a room are to be played.
func (s *Server) orderDrafts(c echo.Context) error {
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	var body orderBody
	if err := readLargeBody(c, &body); err != nil {
		return err
	}
	if len(*body.Rounds) > maxRounds || slices.ContainsFunc(*body.Rounds, func(id string) bool { return !wire.IsUUID(id) }) {
		return badRequest("rounds", fmt.Sprintf("rounds must be up to %d ids of rounds", maxRounds))
	}
	if err := s.RoomAdmin.OrderDrafts(c.Request().Context(), room.Code, *body.Rounds); err != nil {
		return err
	}
	s.notifyHosts(c.Request().Context(), room.Code, game.NoticeRoundsChanged)
	return s.listRounds(c)
}

type startsOnBody struct {
	StartsOn *game.Moment `json:"starts_on"`
}

// planStart schedules the automatic start of a draft; 0 removes the schedule.
func (s *Server) planStart(c echo.Context) error {
	round, err := s.readRound(c)
	if err != nil {
		return err
	}
	var body startsOnBody
	if err := readBody(c, &body); err != nil {
		return err
	}
	on, now := *body.StartsOn, s.Now()
	if on != 0 && (on < game.Moment(now.UnixMilli()) || on > game.Moment(now.Add(maxPlanAhead).UnixMilli())) {
		return &game.Invalid{Code: "out_of_range", Field: "starts_on", Message: "starts_on must be within a year from now, or 0"}
	}
	planned, err := s.RoomAdmin.PlanStart(c.Request().Context(), round.ID, on)
	if err != nil {
		return replaceNotFound(err, errRoundNotFound)
	}
	s.notifyHosts(c.Request().Context(), round.Room, game.NoticeRoundsChanged)
	return answer(c, http.StatusOK, roundAnswer{wire.RoundOf(planned)})
}

// changeDraft replaces all settings of a draft; the body is as for a new round.
func (s *Server) changeDraft(c echo.Context) error {
	round, err := s.readRound(c)
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
	changed, err := s.RoomAdmin.ChangeDraft(c.Request().Context(), round.ID, settings)
	if err != nil {
		return replaceNotFound(err, errRoundNotFound)
	}
	s.notifyHosts(c.Request().Context(), round.Room, game.NoticeRoundsChanged)
	return answer(c, http.StatusOK, roundAnswer{wire.RoundOf(changed)})
}

func (s *Server) dropDraft(c echo.Context) error {
	round, err := s.readRound(c)
	if err != nil {
		return err
	}
	if err := s.RoomAdmin.DropDraft(c.Request().Context(), round.ID); err != nil {
		return replaceNotFound(err, errRoundNotFound)
	}
	s.notifyHosts(c.Request().Context(), round.Room, game.NoticeRoundsChanged)
	return c.NoContent(http.StatusNoContent)
}

// fileVersion is the version of the format in which rounds are exported.
const fileVersion = 1

// roundsFile has the settings of rounds: no ids, no secrets, nothing of what was played.
type roundsFile struct {
	Version int             `json:"version"`
	Rounds  []game.Settings `json:"rounds"`
}

// exportRounds exports the settings of a room's rounds as a file, in the order of their places. It holds as many as can be
// imported: drafts first, then the rounds begun last.
func (s *Server) exportRounds(c echo.Context) error {
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	rounds, err := s.Rounds.Drafts(c.Request().Context(), room.Code, maxRounds)
	if err == nil && len(rounds) < maxRounds {
		var begun []game.Round
		begun, err = s.Rounds.BegunRounds(c.Request().Context(), room.Code, "", maxRounds-len(rounds))
		rounds = append(rounds, begun...)
	}
	if err != nil {
		return err
	}
	slices.SortStableFunc(rounds, func(a, b game.Round) int { return int(a.Place - b.Place) })
	file := roundsFile{Version: fileVersion}
	for _, round := range rounds {
		file.Rounds = append(file.Rounds, round.Settings)
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="rounds-`+room.Code+`.json"`)
	return answer(c, http.StatusOK, file)
}

type importBody struct {
	Version *int              `json:"version"`
	Rounds  *[]jsontext.Value `json:"rounds"`
}

// importRounds creates a draft for each round of a file, all or none. The field of a refusal names the round at fault.
func (s *Server) importRounds(c echo.Context) error {
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	var body importBody
	if err := readLargeBody(c, &body); err != nil {
		return err
	}
	if *body.Version != fileVersion {
		return badRequest("version", fmt.Sprintf("version must be %d", fileVersion))
	}
	if len(*body.Rounds) == 0 || len(*body.Rounds) > maxRounds {
		return badRequest("rounds", fmt.Sprintf("rounds must be a list of 1 to %d rounds", maxRounds))
	}
	all := make([]game.Settings, len(*body.Rounds))
	for i, text := range *body.Rounds {
		if all[i], err = readSettings(text); err != nil {
			return prefixField(fmt.Sprintf("rounds[%d]", i), err)
		}
	}
	made, err := s.RoomAdmin.CreateRounds(c.Request().Context(), room.Code, all)
	if err != nil {
		return replaceNotFound(err, errRoomNotFound)
	}
	s.notifyHosts(c.Request().Context(), room.Code, game.NoticeRoundsChanged)
	return answer(c, http.StatusCreated, newRoundsAnswer(made))
}

func readSettings(text jsontext.Value) (game.Settings, error) {
	body := newRoundBody()
	if err := wire.DecodeBody(bytes.NewReader(text), maxBody, &body); err != nil {
		return game.Settings{}, err
	}
	return body.settings()
}

// prefixField adds to an error's field in which element of a list it is.
func prefixField(place string, err error) error {
	at := func(field string) string {
		if field == "" {
			return place
		}
		return place + "." + field
	}
	if invalid, ok := errors.AsType[*game.Invalid](err); ok {
		return &game.Invalid{Code: invalid.Code, Field: at(invalid.Field), Message: place + ": " + invalid.Message}
	}
	if bad, ok := errors.AsType[*wire.BadFrame](err); ok {
		return &wire.BadFrame{Code: bad.Code, Field: at(bad.Field), Message: place + ": " + bad.Message}
	}
	return err
}

// readLargeBody is readBody with a larger limit, for lists of rounds.
func readLargeBody(c echo.Context, into any) error {
	if mediaType, _, err := mime.ParseMediaType(c.Request().Header.Get(echo.HeaderContentType)); err != nil || mediaType != echo.MIMEApplicationJSON {
		return errNotJSON
	}
	return wire.DecodeBody(c.Request().Body, maxRoundsFileBytes, into)
}
