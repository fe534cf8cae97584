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

// parsePlayerID returns the player's id from the path.
func parsePlayerID(c echo.Context) (string, error) {
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
			if err := s.Publisher.PublishAccessChanged(c.Request().Context(), room); err != nil {
				s.Logger.Warn("cannot tell who is blocked; instances read it within 2 s", "room", room, "error", err)
			}
			return player, nil
		})
	}
}

func (s *Server) changePlayer(c echo.Context, read func() error, change func(room, id string) (game.Player, error)) error {
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	id, err := parsePlayerID(c)
	if err != nil {
		return err
	}
	if err := read(); err != nil {
		return err
	}
	player, err := change(room.Code, id)
	if err != nil {
		return replaceNotFound(err, errPlayerNotFound)
	}
	s.notifyHosts(c.Request().Context(), room.Code, game.NoticePlayersEdited)
	return answer(c, http.StatusOK, guestAnswer{newGuest(player)})
}

// maxSubject bounds the subject that the host's own app gives a player, in bytes.
const maxSubject = 128

// appClaims are the JWT claims of a token of the host's own app: the player's id there (sub), nickname (name), expiry (exp), and
// optionally the only room in which it is valid.
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
	case !isValidSubject(claims.Subject) || (claims.Room != "" && claims.Room != room):
		return nil, errBadToken
	}
	return claims, nil
}

// isValidSubject refuses an empty or too long subject, and one with spaces at its ends or control characters, which databases
// compare or store differently.
func isValidSubject(subject string) bool {
	return subject != "" && len(subject) <= maxSubject && subject == strings.TrimSpace(subject) && !strings.ContainsFunc(subject, unicode.IsControl)
}

type tokenBody struct {
	Token *string `json:"token"`
}

// joinByAppToken joins with a token of the host's own app. Its subject is the same player on every device.
func (s *Server) joinByAppToken(c echo.Context) error {
	room, err := s.readRoom(c)
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
	if !s.joins.allowSession(c.RealIP()) {
		return errTooManyRequest
	}
	joined, err := s.findOrAddSubject(c, room, claims.Subject, nickname)
	if err != nil {
		return err
	}
	return s.answerWithSession(c, joined)
}

// findOrAddSubject returns the player of a subject, creates it if there is none, and updates its nickname.
func (s *Server) findOrAddSubject(c echo.Context, room game.Room, subject, nickname string) (game.Player, error) {
	ctx := c.Request().Context()
	known, err := s.Guests.PlayerOfSubject(ctx, room.Code, subject)
	switch {
	case errors.Is(err, game.ErrNotFound) && room.Locked:
		return known, errRoomLocked
	case errors.Is(err, game.ErrNotFound):
		if err := s.joins.allowPlayer(ctx, c.RealIP(), room.Code); err != nil {
			return known, err
		}
		known, err = s.Guests.AddSubject(ctx, room.Code, subject, nickname)
		return known, replaceNotFound(err, errRoomNotFound)
	case err != nil:
		return known, err
	case known.Blocked:
		return known, errBlocked
	case !game.IsNumberedName(known.Nickname, nickname):
		if known, err = s.Guests.RenamePlayer(ctx, room.Code, known.ID, nickname); err == nil {
			s.notifyHosts(ctx, room.Code, game.NoticePlayersEdited)
		}
		return known, err
	}
	return known, nil
}

// answerWithSession issues a session to a player who joined.
func (s *Server) answerWithSession(c echo.Context, joined game.Player) error {
	token, err := s.Sessions.NewPlayerToken(joined.Room, joined.ID)
	if err != nil {
		return err
	}
	s.notifyHosts(c.Request().Context(), joined.Room, game.NoticePlayersChanged)
	held := "" // whatever the origin of the request: who sent the cookie gets it back with one room more, and nobody else
	if cookie, err := c.Cookie(PlayerCookie); err == nil {
		held = cookie.Value
	}
	cookie, err := s.Sessions.NewPlayerCookie(held, joined.Room, joined.ID)
	if err != nil {
		return err
	}
	s.setCookie(c, PlayerCookie, cookie, playerSessionLifetime)
	return answer(c, http.StatusCreated, joinedAnswer{player{joined.ID, joined.Nickname}, token})
}

// maxMyRounds is how many of their own rounds a player sees.
const maxMyRounds = 20

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

// showMyRounds shows the calling player's rounds and balance in a room, from the ledger.
func (s *Server) showMyRounds(c echo.Context) error {
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	me, err := s.playerID(c, room.Code)
	if err != nil {
		return err
	}
	played, err := s.Guests.PlayedBy(c.Request().Context(), me, maxMyRounds)
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
		ranks, err := s.ranksCache.get(c.Request().Context(), s.Results, p.Round.ID)
		if err != nil {
			return err
		}
		mine[i].Rank = ranks[me]
	}
	return answer(c, http.StatusOK, myRoundsAnswer{mine, balance})
}
