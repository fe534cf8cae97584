package api

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
	"redrain/internal/wire"
)

type nameBody struct {
	Name *string `json:"name"`
}

type nicknameBody struct {
	Nickname *string `json:"nickname"`
}

// roomDetail is a room with its access policy.
type roomDetail struct {
	Code    string `json:"code"`
	Name    string `json:"name"`
	Locked  bool   `json:"locked"`
	AppOnly bool   `json:"app_only"`
}

func newRoomDetail(r game.Room) roomDetail { return roomDetail{r.Code, r.Name, r.Locked, r.AppOnly} }

type roomAnswer struct {
	Room roomDetail `json:"room"`
}

// roomSummary is a room in the list of all. Active is the id of its active round, or empty.
type roomSummary struct {
	roomDetail

	Players int        `json:"players"`
	Drafts  int        `json:"drafts"`
	Played  int        `json:"played"`
	Given   game.Cents `json:"given_cents"`
	Active  string     `json:"active"`
}

// How many rooms one response may hold. Each needs a count of its rounds and players.
const (
	defaultRooms = 50
	maxRooms     = 200
)

// roomsPage is a page of the list of rooms; Next is the `after` of the next page, empty on the last one.
type roomsPage struct {
	Rooms []roomSummary `json:"rooms"`
	Next  string        `json:"next"`
}

type roomAndRoundAnswer struct {
	Room  roomDetail  `json:"room"`
	Round *wire.Round `json:"round"`
}

type player struct {
	ID       string `json:"id"`
	Nickname string `json:"nickname"`
}

type playerAnswer struct {
	Player player `json:"player"`
}

type joinedAnswer struct {
	Player player `json:"player"`
	Token  string `json:"token"`
}

// readRoom reads the room whose code is in the path; the code may be in lower case. The hidden rooms of rehearsals exist only for
// hosts.
func (s *Server) readRoom(c echo.Context) (game.Room, error) {
	code, ok := game.CleanCode(c.Param("code"))
	if !ok {
		return game.Room{}, errRoomNotFound
	}
	room, err := s.Rooms.Room(c.Request().Context(), code)
	if err == nil && room.StageOf != "" && !s.isHost(c) {
		err = errRoomNotFound
	}
	err = replaceNotFound(err, errRoomNotFound)
	if err != nil && !errors.Is(err, errRoomNotFound) || s.isInRoom(c, code) {
		return room, err
	}
	if refused := s.RoomGuesses.Wait(c.Request(), code, err == nil); refused != nil {
		return game.Room{}, refused
	}
	return room, err
}

// isInRoom reports whether the caller has a session for this room, and so does not guess its code.
func (s *Server) isInRoom(c echo.Context, code string) bool {
	_, err := s.Sessions.PlayerIgnoringTimes(s.readToken(c.Request(), PlayerCookie), code)
	return err == nil || s.isHost(c)
}

func (s *Server) createRoom(c echo.Context) error {
	var body nameBody
	if err := readBody(c, &body); err != nil {
		return err
	}
	name, err := game.CleanName("name", *body.Name)
	if err != nil {
		return err
	}
	room, err := s.Rooms.CreateRoom(c.Request().Context(), name)
	if err != nil {
		return err
	}
	return answer(c, http.StatusCreated, roomAnswer{newRoomDetail(room)})
}

func (s *Server) listRooms(c echo.Context) error {
	limit, err := parseQueryInt(c, "limit", 1, maxRooms, defaultRooms)
	if err != nil {
		return err
	}
	after := c.QueryParam("after")
	if code, ok := game.CleanCode(after); after != "" && (!ok || code != after) {
		return errRoomNotFound
	}
	rooms, err := s.RoomAdmin.RoomSummaries(c.Request().Context(), after, limit)
	if err != nil {
		return replaceNotFound(err, errRoomNotFound)
	}
	page := roomsPage{Rooms: make([]roomSummary, len(rooms))}
	for i, r := range rooms {
		page.Rooms[i] = roomSummary{newRoomDetail(r.Room), r.Players, r.Drafts, r.Played, r.Given, r.Active}
	}
	if len(rooms) == limit {
		page.Next = rooms[limit-1].Room.Code
	}
	return answer(c, http.StatusOK, page)
}

func (s *Server) showRoom(c echo.Context) error {
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	shown := roomAndRoundAnswer{Room: newRoomDetail(room)}
	round, err := s.Rounds.LastRound(c.Request().Context(), room.Code)
	switch {
	case err == nil:
		public := wire.RoundOf(round)
		shown.Round = &public
	case !errors.Is(err, game.ErrNotFound):
		return err
	}
	return answer(c, http.StatusOK, shown)
}

// join creates a player, or issues a new session to a player who sends an old one of this room. The rate limit is generous, see
// joinRate, and what is refused for another reason does not count.
func (s *Server) join(c echo.Context) error {
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	returning, sessionErr := s.readReturningPlayer(c, room.Code)
	switch {
	case sessionErr == nil:
	case !errors.Is(sessionErr, ErrUnauthorized):
		return sessionErr
	case room.Locked:
		return errRoomLocked
	case room.AppOnly:
		return errAppOnly
	}
	var body nicknameBody
	if err := readBody(c, &body); err != nil {
		return err
	}
	nickname, err := game.CleanName("nickname", *body.Nickname)
	if err != nil {
		return err
	}
	if !s.joins.allowSession(c.RealIP()) {
		return errTooManyRequest
	}
	if sessionErr == nil {
		return s.answerWithSession(c, returning)
	}
	if err := s.joins.allowPlayer(c.Request().Context(), c.RealIP(), room.Code); err != nil {
		return err
	}
	joined, err := s.Rooms.AddPlayer(c.Request().Context(), room.Code, nickname)
	if err != nil {
		return replaceNotFound(err, errRoomNotFound)
	}
	return s.answerWithSession(c, joined)
}

// readReturningPlayer returns the player whose session for this room the caller sends. Neither an expired session nor one from the
// future makes the caller a second player. ErrUnauthorized: the caller has no session of a player of this room.
func (s *Server) readReturningPlayer(c echo.Context, room string) (game.Player, error) {
	id, err := s.Sessions.PlayerIgnoringTimes(s.readToken(c.Request(), PlayerCookie), room)
	if err != nil {
		return game.Player{}, err
	}
	return s.readRoomPlayer(c, room, id)
}

// readRoomPlayer reads a player of a room. ErrUnauthorized: the room has no such player, so the session that names them is not valid.
func (s *Server) readRoomPlayer(c echo.Context, room, id string) (game.Player, error) {
	known, err := s.Rooms.Player(c.Request().Context(), id)
	switch {
	case errors.Is(err, game.ErrNotFound), err == nil && known.Room != room:
		return game.Player{}, ErrUnauthorized
	case err == nil && known.Blocked:
		return game.Player{}, errBlocked
	}
	return known, err
}

// showMyself shows the calling player.
func (s *Server) showMyself(c echo.Context) error {
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	id, err := s.playerID(c, room.Code)
	if err != nil {
		return err
	}
	me, err := s.readRoomPlayer(c, room.Code, id)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, playerAnswer{player{me.ID, me.Nickname}})
}
