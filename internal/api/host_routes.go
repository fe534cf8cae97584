package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
)

type addRoute func(method, path string, handler echo.HandlerFunc)

// routeHost adds the routes by which hosts manage rooms, players and drafts, and the players' routes that belong to these.
func (s *Server) routeHost(anybody, host addRoute) {
	host("GET", "/host/health", s.showHealth)
	host("POST", "/rooms/:code/doors", s.setAccessPolicy)
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
	anybody("POST", "/rooms/:code/players/token", s.joinByAppToken)
	anybody("GET", "/rooms/:code/players/me/rounds", s.showMyRounds)
}

// notifyHosts makes the pages of all hosts of a room fetch again what a notice names. A failure is only logged.
func (s *Server) notifyHosts(ctx context.Context, room string, code game.NoticeCode) {
	if err := s.Publisher.NotifyHosts(ctx, room, code); err != nil {
		s.Logger.Warn("cannot tell the hosts' pages", "room", room, "code", code, "error", err)
	}
}

type accessBody struct {
	Locked  *bool `json:"locked"`
	AppOnly *bool `json:"app_only"`
}

func (s *Server) setAccessPolicy(c echo.Context) error {
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	var body accessBody
	if err := readBody(c, &body); err != nil {
		return err
	}
	room, err = s.RoomAdmin.SetAccessPolicy(c.Request().Context(), room.Code, *body.Locked, *body.AppOnly)
	if err != nil {
		return replaceNotFound(err, errRoomNotFound)
	}
	s.notifyHosts(c.Request().Context(), room.Code, game.NoticeRoomChanged)
	return answer(c, http.StatusOK, roomAnswer{newRoomDetail(room)})
}

type textBody struct {
	Text *string `json:"text"`
}

// announce publishes a text to every page of the room on all instances.
func (s *Server) announce(c echo.Context) error {
	room, err := s.readRoom(c)
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
	notice := game.Notice{Code: game.NoticeAnnouncement, Text: text}
	if err := s.Publisher.PublishNotice(c.Request().Context(), room.Code, notice); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
