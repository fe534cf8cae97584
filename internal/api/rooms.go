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

// roomDetail is a room with what people need to know before they come in.
type roomDetail struct {
	Code    string `json:"code"`
	Name    string `json:"name"`
	Locked  bool   `json:"locked"`
	AppOnly bool   `json:"app_only"`
}

func detailOf(r game.Room) roomDetail { return roomDetail{r.Code, r.Name, r.Locked, r.AppOnly} }

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

// How many rooms one answer may hold. Each costs a look at the index entries of its rounds and players.
const (
	roomsUsual = 50
	roomsMost  = 200
)

// roomsPage is a part of the list of rooms; Next is the `after` of the next part, empty if this was the last one.
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

// roomOf reads the room that the address names; a code may be typed in lower case. Stages are there for hosts alone.
func (s *Server) roomOf(c echo.Context) (game.Room, error) {
	code, ok := game.CleanCode(c.Param("code"))
	if !ok {
		return game.Room{}, errRoomNotFound
	}
	room, err := s.Rooms.Room(c.Request().Context(), code)
	if err == nil && room.StageOf != "" && !s.isHost(c) {
		err = errRoomNotFound
	}
	return room, orMissing(err, errRoomNotFound)
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
	return answer(c, http.StatusCreated, roomAnswer{detailOf(room)})
}

func (s *Server) listRooms(c echo.Context) error {
	limit, err := number(c, "limit", 1, roomsMost, roomsUsual)
	if err != nil {
		return err
	}
	after := c.QueryParam("after")
	if code, ok := game.CleanCode(after); after != "" && (!ok || code != after) {
		return errRoomNotFound
	}
	rooms, err := s.Desk.RoomSummaries(c.Request().Context(), after, limit)
	if err != nil {
		return orMissing(err, errRoomNotFound)
	}
	page := roomsPage{Rooms: make([]roomSummary, len(rooms))}
	for i, r := range rooms {
		page.Rooms[i] = roomSummary{detailOf(r.Room), r.Players, r.Drafts, r.Played, r.Given, r.Active}
	}
	if len(rooms) == limit {
		page.Next = rooms[limit-1].Room.Code
	}
	return answer(c, http.StatusOK, page)
}

func (s *Server) showRoom(c echo.Context) error {
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	shown := roomAndRoundAnswer{Room: detailOf(room)}
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

// join makes a new player, or gives one who shows a session of this room a new one. The limit is loose: a whole company may
// come from one address within a minute.
func (s *Server) join(c echo.Context) error {
	if !s.joins.allow(c.RealIP()) {
		return errTooManyRequest
	}
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	again, stranger := s.comesAgain(c, room.Code)
	switch {
	case stranger == nil:
	case !errors.Is(stranger, ErrUnauthorized):
		return stranger
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
	if stranger == nil {
		return s.welcomePlayer(c, again)
	}
	joined, err := s.Rooms.AddPlayer(c.Request().Context(), room.Code, nickname)
	if err != nil {
		return orMissing(err, errRoomNotFound)
	}
	return s.welcomePlayer(c, joined)
}

// comesAgain returns the player whose session for this room the caller shows, also where it is over, or its time is one that
// this instance does not understand: nobody becomes a second player by that. ErrUnauthorized: the caller is nobody yet.
func (s *Server) comesAgain(c echo.Context, room string) (game.Player, error) {
	id, err := s.Sessions.Known(s.token(c.Request(), PlayerCookie(room)), room)
	if err != nil {
		return game.Player{}, err
	}
	return s.playerIn(c, room, id)
}

// playerIn reads a player of a room. A session of somebody whom the books do not know is none.
func (s *Server) playerIn(c echo.Context, room, id string) (game.Player, error) {
	known, err := s.Rooms.Player(c.Request().Context(), id)
	switch {
	case errors.Is(err, game.ErrNotFound), err == nil && known.Room != room:
		return game.Player{}, ErrUnauthorized
	case err == nil && known.Blocked:
		return game.Player{}, errBlocked
	}
	return known, err
}

// showMe tells a player who they are.
func (s *Server) showMe(c echo.Context) error {
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	id, err := s.playerOf(c, room.Code)
	if err != nil {
		return err
	}
	me, err := s.playerIn(c, room.Code, id)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, playerAnswer{player{me.ID, me.Nickname}})
}
