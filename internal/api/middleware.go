package api

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo-contrib/echoprometheus"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

// useMiddleware sets what every answer but the gate's goes through. The metrics come first, so that they see the status
// that a panic ends in.
func (s *Server) useMiddleware() error {
	metrics, err := s.metrics()
	if err != nil {
		return err
	}
	s.echo.Use(metrics, secureHeaders, middleware.RecoverWithConfig(middleware.RecoverConfig{
		DisableStackAll: true,
		LogErrorFunc:    s.logPanic,
	}))
	return nil
}

// logPanic keeps the stack here; the client hears what refuse says of any other error.
func (s *Server) logPanic(_ echo.Context, err error, stack []byte) error {
	s.Logger.Error("panic", "error", err, "stack", string(stack))
	return fmt.Errorf("panic: %w", err)
}

var usualMethods = map[string]bool{
	http.MethodGet: true, http.MethodHead: true, http.MethodPost: true, http.MethodDelete: true, http.MethodOptions: true,
}

// metrics counts requests by route. Hosts, methods and addresses that clients make up would each be a new time series for
// ever, so none of them becomes a label.
func (s *Server) metrics() (echo.MiddlewareFunc, error) {
	config := echoprometheus.MiddlewareConfig{
		Namespace: "redrain", Subsystem: "http", Registerer: s.Metrics,
		DoNotUseRequestPathFor404: true,
		LabelFuncs: map[string]echoprometheus.LabelValueFunc{
			"host": func(echo.Context, error) string { return "" },
			"method": func(c echo.Context, _ error) string {
				if usualMethods[c.Request().Method] {
					return c.Request().Method
				}
				return "other"
			},
		},
		StatusCodeResolver: func(c echo.Context, err error) int {
			if err != nil && !c.Response().Committed {
				return s.refusalOf(err).status
			}
			return c.Response().Status
		},
	}
	use, err := config.ToMiddleware()
	if err != nil {
		return nil, fmt.Errorf("register HTTP metrics: %w", err)
	}
	return use, nil
}

// contentPolicy lets pages load what this site serves, and nothing inline.
var contentPolicy = strings.Join([]string{
	"default-src 'none'",
	"script-src 'self'",
	"style-src 'self'",
	"img-src 'self' data: blob:",
	"font-src 'self'",
	"media-src 'self'",
	"manifest-src 'self'",
	"base-uri 'none'",
	"form-action 'self'",
	"frame-ancestors 'none'",
	"connect-src 'self'",
}, "; ")

// secureHeaders sets what browsers need to know of every answer. Safari before 15.4 does not take 'self' for sockets, so
// the host is spelled out where it is one.
func secureHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		policy := contentPolicy
		if host := c.Request().Host; plainHost.MatchString(host) {
			policy += " ws://" + host + " wss://" + host
		}
		header := c.Response().Header()
		header.Set(echo.HeaderContentSecurityPolicy, policy)
		header.Set(echo.HeaderXContentTypeOptions, "nosniff")
		header.Set(echo.HeaderReferrerPolicy, "same-origin")
		return next(c)
	}
}
