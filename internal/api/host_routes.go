package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
	"redrain/internal/wire"
)

type addRoute func(method, path string, handler echo.HandlerFunc)

// routeHost adds what hosts do beyond single rounds, and what follows from it for players.
func (s *Server) routeHost(anybody, host addRoute) {
	host("GET", "/host/health", s.showHealth)
	host("POST", "/rooms/:code/doors", s.setDoors)
	host("POST", "/rooms/:code/announcements", s.announce)
	host("GET", "/rooms/:code/players", s.listPlayers)
	host("POST", "/rooms/:code/players/:player/rename", s.renamePlayer)
	host("POST", "/rooms/:code/players/:player/block", s.blockPlayer(true))
	host("POST", "/rooms/:code/players/:player/unblock", s.blockPlayer(false))
	host("POST", "/rooms/:code/plan", s.orderDrafts)
	host("GET", "/rooms/:code/rounds/export", s.exportRounds)
	host("POST", "/rooms/:code/rounds/import", s.importRounds)
	host("POST", "/rounds/:id/plan", s.planStart)
	host("POST", "/rounds/:id/settings", s.changeDraft)
	host("DELETE", "/rounds/:id", s.dropDraft)
	host("GET", "/rooms/:code/rehearsals", s.listRehearsals)
	host("POST", "/rooms/:code/rehearsals", s.rehearse)
	anybody("POST", "/rooms/:code/players/token", s.joinByToken)
	anybody("GET", "/rooms/:code/players/me/rounds", s.showMyRounds)
}

// Codes of notices for hosts alone: what to read again.
const (
	noticePlayers    = "players_changed" // somebody joined: what is new is enough
	noticeEdited     = "players_edited"  // somebody was renamed or blocked, wherever they stand in the list
	noticeRounds     = "rounds_changed"
	noticeRoom       = "room_changed"
	noticeRehearsals = "rehearsals_changed"
)

// tellHosts makes the other windows of hosts follow. It is a hint: what was done stays done if it fails.
func (s *Server) tellHosts(ctx context.Context, room, code string) {
	if err := s.Speaker.NotifyHosts(ctx, room, code); err != nil {
		s.Logger.Warn("cannot tell the hosts' pages", "room", room, "code", code, "error", err)
	}
}

type healthCheck struct {
	Name    string  `json:"name"`
	OK      bool    `json:"ok"`
	MS      float64 `json:"ms"`
	Problem string  `json:"problem"`
}

type healthAnswer struct {
	Checks []healthCheck `json:"checks"`
}

// showHealth asks every check, and how long each took.
func (s *Server) showHealth(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyWithin)
	defer cancel()
	checks := []healthCheck{}
	for _, check := range slices.Concat(s.Checks, s.Warnings) {
		began := time.Now()
		err := check.Ask(ctx)
		took := time.Since(began)
		if check.Took != nil {
			took = check.Took()
		}
		seen := healthCheck{Name: check.Name, OK: err == nil, MS: float64(took.Microseconds()) / 1000}
		if err != nil {
			seen.Problem = err.Error()
		}
		checks = append(checks, seen)
	}
	if s.SettleLag != nil {
		checks = append(checks, s.settlement())
	}
	return answer(c, http.StatusOK, healthAnswer{checks})
}

// settledWithin is how far settling may be behind before hosts are told; usually it is a few milliseconds.
const settledWithin = 5 * time.Second

// settlement is the check of settling; its time is the lag.
func (s *Server) settlement() healthCheck {
	lag := s.SettleLag()
	check := healthCheck{Name: "settlement", OK: lag <= settledWithin, MS: float64(lag.Milliseconds())}
	if !check.OK {
		check.Problem = "claims reach the ledger " + lag.Round(time.Second).String() + " late"
	}
	return check
}

type doorsBody struct {
	Locked  *bool `json:"locked"`
	AppOnly *bool `json:"app_only"`
}

func (s *Server) setDoors(c echo.Context) error {
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	var body doorsBody
	if err := readBody(c, &body); err != nil {
		return err
	}
	room, err = s.Desk.SetAccessPolicy(c.Request().Context(), room.Code, *body.Locked, *body.AppOnly)
	if err != nil {
		return orMissing(err, errRoomNotFound)
	}
	s.tellHosts(c.Request().Context(), room.Code, noticeRoom)
	return answer(c, http.StatusOK, roomAnswer{detailOf(room)})
}

type textBody struct {
	Text *string `json:"text"`
}

// announce reaches every page of the room, on every instance.
func (s *Server) announce(c echo.Context) error {
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	var body textBody
	if err := readBody(c, &body); err != nil {
		return err
	}
	text, err := game.CleanAnnouncement(*body.Text)
	if err != nil {
		return err
	}
	notice := wire.Encode(wire.Notice{Code: "announcement", Text: text})
	if err := s.Speaker.PublishNotice(c.Request().Context(), room.Code, notice); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
