package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
)

// changesState reports whether requests with a method may change something.
func changesState(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}

// refuseForeignOrigins refuses requests that may change something from pages of other sites, which would use their visitors'
// cookies, and from own pages that could not keep a session.
func (s *Server) refuseForeignOrigins(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		present, ok := s.Origins.Check(r)
		switch {
		case !present || !changesState(r.Method):
			return next(c)
		case s.Origins.NeedsHTTPS(r):
			return errNeedsHTTPS
		case !ok:
			s.originLog.Do(func() {
				s.Logger.Warn("a page was refused: if it is one of this site, set PUBLIC_URL or have the proxy pass Host on with its port",
					"origin", r.Header.Get("Origin"), "host", r.Host)
			})
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

// hostOnly is middleware that refuses everybody but hosts. The request's context ends with the host's session.
func (s *Server) hostOnly(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		session, err := s.hostSession(c)
		if err != nil {
			return err
		}
		ctx, cancel := s.Sessions.HostContext(c.Request().Context(), session)
		defer cancel()
		c.SetRequest(c.Request().WithContext(ctx))
		return next(c)
	}
}

func (s *Server) hostSession(c echo.Context) (game.HostSession, error) {
	return s.Sessions.Host(s.readToken(c.Request(), HostCookie))
}

func (s *Server) isHost(c echo.Context) bool {
	_, err := s.hostSession(c)
	return err == nil
}

// playerID returns the calling player's id, from their session for this room.
func (s *Server) playerID(c echo.Context, room string) (string, error) {
	return s.Sessions.Player(s.readToken(c.Request(), PlayerCookie), room)
}

// setCookie sets a cookie that scripts cannot read and that requests from other sites do not carry. A lifetime below 0 deletes it.
func (s *Server) setCookie(c echo.Context, name, token string, lasts time.Duration) {
	c.SetCookie(&http.Cookie{
		Name: name, Value: token, Path: "/", MaxAge: int(lasts.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: s.isSecure(c.Request()),
	})
}

// isSecure reports whether the browser got the page over HTTPS. Behind a proxy that is known from PUBLIC_URL, but a page of
// ALLOWED_ORIGINS may be a plain one.
func (s *Server) isSecure(r *http.Request) bool {
	if page, valid := parseOrigin(r.Header.Get("Origin")); valid && page.scheme == "http" {
		return false
	}
	return s.publicIsHTTPS() || s.Proxies.isHTTPS(r)
}

func (s *Server) publicIsHTTPS() bool { return strings.HasPrefix(s.PublicURL, "https://") }

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
	right := s.Sessions.IsPassword(*body.Password)
	if !s.isHost(c) {
		if err := s.guesses.wait(c.Request().Context(), c.RealIP(), !right); err != nil {
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

// logOut ends the caller's session, on all instances.
func (s *Server) logOut(c echo.Context) error {
	session, err := s.hostSession(c)
	if err != nil {
		return err
	}
	if err := s.Sessions.EndHost(c.Request().Context(), session); err != nil {
		return err
	}
	s.setCookie(c, HostCookie, "", -time.Second)
	return c.NoContent(http.StatusNoContent)
}
