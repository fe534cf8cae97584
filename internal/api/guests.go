package api

import (
	"errors"
	"net/http"
	"strings"
	"unicode"

	"github.com/golang-jwt/jwt/v5"
	"github.com/labstack/echo/v4"

	"redrain/internal/game"
	"redrain/internal/wire"
)

type guestAnswer struct {
	Player guest `json:"player"`
}

// playerID is the id that the address names.
func playerID(c echo.Context) (string, error) {
	id := c.Param("player")
	if !wire.IsUUID(id) {
		return "", errPlayerNotFound
	}
	return id, nil
}

func (s *Server) renamePlayer(c echo.Context) error {
	var body nicknameBody
	return s.changePlayer(c, func() error { return readBody(c, &body) }, func(room, id string) (game.Player, error) {
		nickname, err := game.CleanName("nickname", *body.Nickname)
		if err != nil {
			return game.Player{}, err
		}
		return s.Guests.RenamePlayer(c.Request().Context(), room, id, nickname)
	})
}

func (s *Server) blockPlayer(blocked bool) echo.HandlerFunc {
	return func(c echo.Context) error {
		return s.changePlayer(c, func() error { return readNoBody(c) }, func(room, id string) (game.Player, error) {
			player, err := s.Guests.BlockPlayer(c.Request().Context(), room, id, blocked)
			if err != nil {
				return player, err
			}
			if err := s.Speaker.PublishAccessChanged(c.Request().Context(), room); err != nil {
				s.Logger.Warn("cannot tell who is blocked; instances read it within 2 s", "room", room, "error", err)
			}
			return player, nil
		})
	}
}

func (s *Server) changePlayer(c echo.Context, read func() error, change func(room, id string) (game.Player, error)) error {
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	id, err := playerID(c)
	if err != nil {
		return err
	}
	if err := read(); err != nil {
		return err
	}
	player, err := change(room.Code, id)
	if err != nil {
		return orMissing(err, errPlayerNotFound)
	}
	s.tellHosts(c.Request().Context(), room.Code, noticeEdited)
	return answer(c, http.StatusOK, guestAnswer{guestOf(player)})
}

// maxSubject bounds what the host's own app may call somebody, in bytes.
const maxSubject = 128

// appClaims is what the host's own app says of somebody: who (sub), what they are called (name), until when the token is
// good (exp), and optionally for which room only.
type appClaims struct {
	jwt.RegisteredClaims

	Name string `json:"name"`
	Room string `json:"room,omitempty"`
}

// readAppToken checks a token of the host's own app for this room.
func (s *Server) readAppToken(text, room string) (*appClaims, error) {
	if len(s.PlayerSecret) == 0 {
		return nil, errTokensOff
	}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithExpirationRequired(),
		jwt.WithTimeFunc(s.Now), jwt.WithStrictDecoding(), jwt.WithLeeway(clockLeeway))
	claims := new(appClaims)
	_, err := parser.ParseWithClaims(text, claims, func(*jwt.Token) (any, error) { return s.PlayerSecret, nil })
	switch {
	case err != nil:
		return nil, errBadToken
	case !cleanSubject(claims.Subject) || (claims.Room != "" && claims.Room != room):
		return nil, errBadToken
	}
	return claims, nil
}

// cleanSubject refuses what databases compare, or keep, each in their own way.
func cleanSubject(subject string) bool {
	return subject != "" && len(subject) <= maxSubject && subject == strings.TrimSpace(subject) && !strings.ContainsFunc(subject, unicode.IsControl)
}

type tokenBody struct {
	Token *string `json:"token"`
}

// joinByToken lets somebody in for whom the host's own app vouches: the same person is the same player, from any device.
func (s *Server) joinByToken(c echo.Context) error {
	if !s.joins.allow(c.RealIP()) {
		return errTooManyRequest
	}
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	var body tokenBody
	if err := readBody(c, &body); err != nil {
		return err
	}
	claims, err := s.readAppToken(*body.Token, room.Code)
	if err != nil {
		return err
	}
	nickname, err := game.CleanName("name", claims.Name)
	if err != nil {
		return err
	}
	joined, err := s.seatSubject(c, room, claims.Subject, nickname)
	if err != nil {
		return err
	}
	return s.welcomePlayer(c, joined)
}

// seatSubject finds or makes the player, under the name that the app says now.
func (s *Server) seatSubject(c echo.Context, room game.Room, subject, nickname string) (game.Player, error) {
	ctx := c.Request().Context()
	known, err := s.Guests.PlayerOfSubject(ctx, room.Code, subject)
	switch {
	case errors.Is(err, game.ErrNotFound) && room.Locked:
		return known, errRoomLocked
	case errors.Is(err, game.ErrNotFound):
		known, err = s.Guests.AddSubject(ctx, room.Code, subject, nickname)
		return known, orMissing(err, errRoomNotFound)
	case err != nil:
		return known, err
	case known.Blocked:
		return known, errBlocked
	case known.Nickname != nickname:
		if known, err = s.Guests.RenamePlayer(ctx, room.Code, known.ID, nickname); err == nil {
			s.tellHosts(ctx, room.Code, noticeEdited)
		}
		return known, err
	}
	return known, nil
}

// welcomePlayer hands a player their session.
func (s *Server) welcomePlayer(c echo.Context, joined game.Player) error {
	token, err := s.Sessions.NewPlayer(joined.Room, joined.ID)
	if err != nil {
		return err
	}
	s.tellHosts(c.Request().Context(), joined.Room, noticePlayers)
	s.setCookie(c, PlayerCookie(joined.Room), token, playerSession)
	return answer(c, http.StatusCreated, joinedAnswer{player{joined.ID, joined.Nickname}, token})
}

// myRoundsMost is how many of their rounds a player sees.
const myRoundsMost = 20

type myRound struct {
	Round   wire.Round `json:"round"`
	Packets int        `json:"packets"`
	Cents   game.Cents `json:"cents"`
	Rank    int        `json:"rank"`
}

type myRoundsAnswer struct {
	Rounds  []myRound  `json:"rounds"`
	Balance game.Cents `json:"balance_cents"`
}

// showMyRounds is a player's own history in this room, from the ledger.
func (s *Server) showMyRounds(c echo.Context) error {
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	me, err := s.playerOf(c, room.Code)
	if err != nil {
		return err
	}
	played, err := s.Guests.PlayedBy(c.Request().Context(), me, myRoundsMost)
	if err != nil {
		return err
	}
	balance, err := s.Guests.Balance(c.Request().Context(), me)
	if err != nil {
		return err
	}
	mine := make([]myRound, len(played))
	for i, p := range played {
		mine[i] = myRound{Round: wire.RoundOf(p.Round), Packets: p.Packets, Cents: p.Cents}
		if p.Round.Phase != game.Settled {
			continue // the ledger may not hold everybody's claims yet
		}
		ranks, err := s.finals.of(c.Request().Context(), s.Results, p.Round.ID)
		if err != nil {
			return err
		}
		mine[i].Rank = ranks[me]
	}
	return answer(c, http.StatusOK, myRoundsAnswer{mine, balance})
}
