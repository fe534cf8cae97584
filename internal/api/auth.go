package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"redrain/internal/backoff"
)

// changesState reports whether requests with a method may change something.
func changesState(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}

// refuseForeignOrigins refuses requests that may change something from pages of other sites, which would use their visitors'
// cookies.
func (s *Server) refuseForeignOrigins(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if present, ok := s.Origins.Check(c.Request()); present && !ok && changesState(c.Request().Method) {
			return errOriginRefused
		}
		return next(c)
	}
}

// readToken returns the caller's token: a bearer token, else that of a cookie. A cookie counts in a request that may change
// something only if it has an Origin header (refuseForeignOrigins has checked which): without one, another site may have caused
// the request.
func (s *Server) readToken(r *http.Request, cookie string) string {
	if header := r.Header.Get(echo.HeaderAuthorization); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return ""
		}
		return token
	}
	if present, _ := s.Origins.Check(r); changesState(r.Method) && !present {
		return ""
	}
	held, err := r.Cookie(cookie)
	if err != nil {
		return ""
	}
	return held.Value
}

// hostOnly is middleware that refuses everybody but hosts.
func (s *Server) hostOnly(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := s.Sessions.Host(s.readToken(c.Request(), HostCookie)); err != nil {
			return err
		}
		return next(c)
	}
}

func (s *Server) isHost(c echo.Context) bool {
	return s.Sessions.Host(s.readToken(c.Request(), HostCookie)) == nil
}

// playerID returns the calling player's id, from their session for this room.
func (s *Server) playerID(c echo.Context, room string) (string, error) {
	return s.Sessions.Player(s.readToken(c.Request(), PlayerCookie(room)), room)
}

// setCookie sets a cookie that scripts cannot read and that requests from other sites do not carry. A lifetime below 0 deletes it.
func (s *Server) setCookie(c echo.Context, name, token string, lasts time.Duration) {
	c.SetCookie(&http.Cookie{
		Name: name, Value: token, Path: "/", MaxAge: int(lasts.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: strings.HasPrefix(s.PublicURL, "https://") || s.Proxies.isHTTPS(c.Request()),
	})
}

type passwordBody struct {
	Password *string `json:"password"`
}

type tokenAnswer struct {
	Token string `json:"token"`
}

// logIn starts a host's session. Right passwords wait as wrong ones do, so a client above the limit learns nothing from its guesses. Who
// has a session already waits for nobody.
func (s *Server) logIn(c echo.Context) error {
	var body passwordBody
	if err := readBody(c, &body); err != nil {
		return err
	}
	right := equalPasswords(*body.Password, s.Password)
	if !s.isHost(c) {
		if err := s.waitForGuess(c, right); err != nil {
			return err
		}
	}
	if !right {
		return errWrongPassword
	}
	token, err := s.Sessions.NewHostToken()
	if err != nil {
		return err
	}
	s.setCookie(c, HostCookie, token, hostSessionLifetime)
	return answer(c, http.StatusOK, tokenAnswer{token})
}

// waitForGuess waits until it is this caller's turn to hear whether a password was right.
func (s *Server) waitForGuess(c echo.Context, right bool) error {
	delay, ok := s.guesses.delay(c.RealIP(), !right)
	if !ok {
		return errTooManyRequest
	}
	ctx := c.Request().Context()
	if !backoff.Sleep(ctx, delay, nil) {
		return ctx.Err()
	}
	return nil
}

func (s *Server) logOut(c echo.Context) error {
	s.setCookie(c, HostCookie, "", -time.Second)
	return c.NoContent(http.StatusNoContent)
}

// equalPasswords compares in constant time, whatever the length of the guess.
func equalPasswords(guess, password string) bool {
	a, b := sha256.Sum256([]byte(guess)), sha256.Sum256([]byte(password))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
