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

// How many rounds one request may order or bring, and how large a file of rounds may be, in bytes.
const (
	maxOrdered  = 500
	maxImported = 100
	maxFile     = 256 << 10
	// planAhead is how far in the future a round may be planned.
	planAhead = 366 * 24 * time.Hour
)

type orderBody struct {
	Rounds *[]string `json:"rounds"`
}

// orderDrafts takes the ids of drafts in the order in which they are to be played.
func (s *Server) orderDrafts(c echo.Context) error {
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	var body orderBody
	if err := readLargeBody(c, &body); err != nil {
		return err
	}
	if len(*body.Rounds) > maxOrdered || slices.ContainsFunc(*body.Rounds, func(id string) bool { return !wire.IsUUID(id) }) {
		return badRequest("rounds", fmt.Sprintf("rounds must be up to %d ids of rounds", maxOrdered))
	}
	if err := s.Desk.OrderDrafts(c.Request().Context(), room.Code, *body.Rounds); err != nil {
		return err
	}
	s.tellHosts(c.Request().Context(), room.Code, noticeRounds)
	return s.listRounds(c)
}

type startsOnBody struct {
	StartsOn *game.Moment `json:"starts_on"`
}

// planStart lets a draft start by itself, as if the host pressed the button at that moment; 0 takes it back.
func (s *Server) planStart(c echo.Context) error {
	round, err := s.roundOf(c)
	if err != nil {
		return err
	}
	var body startsOnBody
	if err := readBody(c, &body); err != nil {
		return err
	}
	on, now := *body.StartsOn, s.Now()
	if on != 0 && (on < game.Moment(now.UnixMilli()) || on > game.Moment(now.Add(planAhead).UnixMilli())) {
		return &game.Invalid{Code: "out_of_range", Field: "starts_on", Message: "starts_on must be within a year from now, or 0"}
	}
	planned, err := s.Desk.PlanStart(c.Request().Context(), round.ID, on)
	if err != nil {
		return orMissing(err, errRoundNotFound)
	}
	s.tellHosts(c.Request().Context(), round.Room, noticeRounds)
	return answer(c, http.StatusOK, roundAnswer{wire.RoundOf(planned)})
}

// changeDraft gives a draft other settings: all of them, as for a new round.
func (s *Server) changeDraft(c echo.Context) error {
	round, err := s.roundOf(c)
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
	changed, err := s.Desk.ChangeDraft(c.Request().Context(), round.ID, settings)
	if err != nil {
		return orMissing(err, errRoundNotFound)
	}
	s.tellHosts(c.Request().Context(), round.Room, noticeRounds)
	return answer(c, http.StatusOK, roundAnswer{wire.RoundOf(changed)})
}

func (s *Server) dropDraft(c echo.Context) error {
	round, err := s.roundOf(c)
	if err != nil {
		return err
	}
	if err := s.Desk.DropDraft(c.Request().Context(), round.ID); err != nil {
		return orMissing(err, errRoundNotFound)
	}
	s.tellHosts(c.Request().Context(), round.Room, noticeRounds)
	return c.NoContent(http.StatusNoContent)
}

// fileVersion is that of the form in which rounds are exported.
const fileVersion = 1

// roundsFile has the settings of rounds: no ids, no secrets, nothing of what was played.
type roundsFile struct {
	Version int             `json:"version"`
	Rounds  []game.Settings `json:"rounds"`
}

// exportRounds gives a room's rounds as a file, in the order of their places: as many as a file may bring, drafts first, and of
// the others those begun last.
func (s *Server) exportRounds(c echo.Context) error {
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	rounds, err := s.Rounds.Drafts(c.Request().Context(), room.Code, maxImported)
	if err == nil && len(rounds) < maxImported {
		var begun []game.Round
		begun, err = s.Rounds.BegunRounds(c.Request().Context(), room.Code, "", maxImported-len(rounds))
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

// importRounds makes a draft of each round of a file; when one is refused none is made, and the field says which.
func (s *Server) importRounds(c echo.Context) error {
	room, err := s.roomOf(c)
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
	if len(*body.Rounds) == 0 || len(*body.Rounds) > maxImported {
		return badRequest("rounds", fmt.Sprintf("rounds must be a list of 1 to %d rounds", maxImported))
	}
	all := make([]game.Settings, len(*body.Rounds))
	for i, text := range *body.Rounds {
		if all[i], err = readSettings(text); err != nil {
			return within(fmt.Sprintf("rounds[%d]", i), err)
		}
	}
	made, err := s.Desk.CreateRounds(c.Request().Context(), room.Code, all)
	if err != nil {
		return orMissing(err, errRoomNotFound)
	}
	s.tellHosts(c.Request().Context(), room.Code, noticeRounds)
	return answer(c, http.StatusCreated, roundsOf(made))
}

func readSettings(text jsontext.Value) (game.Settings, error) {
	body := newRoundBody()
	if err := wire.DecodeBody(bytes.NewReader(text), maxBody, &body); err != nil {
		return game.Settings{}, err
	}
	return body.settings()
}

// within says in which element of a list the field at fault is.
func within(place string, err error) error {
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

// readLargeBody is readBody for lists of rounds.
func readLargeBody(c echo.Context, into any) error {
	if mediaType, _, err := mime.ParseMediaType(c.Request().Header.Get(echo.HeaderContentType)); err != nil || mediaType != echo.MIMEApplicationJSON {
		return errNotJSON
	}
	return wire.DecodeBody(c.Request().Body, maxFile, into)
}
