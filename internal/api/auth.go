package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// changes reports whether a method is one that changes something.
func changes(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}

// refuseForeignOrigins keeps other sites' pages from changing anything with their visitors' cookies.
func (s *Server) refuseForeignOrigins(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if present, ok := s.Origins.Check(c.Request()); present && !ok && changes(c.Request().Method) {
			return errOriginRefused
		}
		return next(c)
	}
}

// token finds the caller's token: a bearer token, else a cookie. To change something by cookie takes an Origin (that it is
// an allowed one was checked before): without one it may be a browser that was tricked, with one it cannot be.
func (s *Server) token(r *http.Request, cookie string) string {
	if header := r.Header.Get(echo.HeaderAuthorization); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return ""
		}
		return token
	}
	if present, _ := s.Origins.Check(r); changes(r.Method) && !present {
		return ""
	}
	held, err := r.Cookie(cookie)
	if err != nil {
		return ""
	}
	return held.Value
}

// hostOnly lets only hosts through.
func (s *Server) hostOnly(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := s.Sessions.Host(s.token(c.Request(), HostCookie)); err != nil {
			return err
		}
		return next(c)
	}
}

func (s *Server) isHost(c echo.Context) bool {
	return s.Sessions.Host(s.token(c.Request(), HostCookie)) == nil
}

// playerOf returns the id of the caller as a player of this room.
func (s *Server) playerOf(c echo.Context, room string) (string, error) {
	return s.Sessions.Player(s.token(c.Request(), PlayerCookie(room)), room)
}

// setCookie hands out a token that scripts cannot read and other sites' requests do not carry. A lifetime below 0 takes the
// cookie back.
func (s *Server) setCookie(c echo.Context, name, token string, lasts time.Duration) {
	c.SetCookie(&http.Cookie{
		Name: name, Value: token, Path: "/", MaxAge: int(lasts.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: strings.HasPrefix(s.PublicURL, "https://") || s.Proxies.https(c.Request()),
	})
}

type passwordBody struct {
	Password *string `json:"password"`
}

type tokenAnswer struct {
	Token string `json:"token"`
}

// logIn starts a host's session. Wrong and right passwords cost an attempt alike: who is over the limit learns nothing.
func (s *Server) logIn(c echo.Context) error {
	if !s.passwords.allow(c.RealIP()) {
		return errTooManyRequest
	}
	var body passwordBody
	if err := readBody(c, &body); err != nil {
		return err
	}
	if !samePassword(*body.Password, s.Password) {
		return errWrongPassword
	}
	token, err := s.Sessions.NewHost()
	if err != nil {
		return err
	}
	s.setCookie(c, HostCookie, token, hostSession)
	return answer(c, http.StatusOK, tokenAnswer{token})
}

func (s *Server) logOut(c echo.Context) error {
	s.setCookie(c, HostCookie, "", -time.Second)
	return c.NoContent(http.StatusNoContent)
}

// samePassword takes the same time whatever the guess, its length included.
func samePassword(guess, password string) bool {
	a, b := sha256.Sum256([]byte(guess)), sha256.Sum256([]byte(password))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
