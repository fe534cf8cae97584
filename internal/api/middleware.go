package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/prometheus/client_golang/prometheus"
)

// useMiddleware installs the middleware of all responses except those of the WebSocket gate. The metrics come first, so that they
// count the status that a panic results in.
func (s *Server) useMiddleware() error {
	metrics, err := s.metrics()
	if err != nil {
		return err
	}
	s.echo.Use(metrics, s.secureHeaders, middleware.RecoverWithConfig(middleware.RecoverConfig{
		DisableStackAll: true,
		LogErrorFunc:    s.logPanic,
	}))
	return nil
}

// logPanic logs the stack of a panic. The returned error is answered like any other, without the stack.
func (s *Server) logPanic(_ echo.Context, err error, stack []byte) error {
	s.Logger.Error("panic", "error", err, "stack", string(stack))
	return fmt.Errorf("panic: %w", err)
}

var labeledMethods = map[string]bool{
	http.MethodGet: true, http.MethodHead: true, http.MethodPost: true, http.MethodDelete: true, http.MethodOptions: true,
}

// metrics counts requests by route. Hosts, unknown methods and paths come from clients and would each create a new time series, so
// they are no labels.
func (s *Server) metrics() (echo.MiddlewareFunc, error) {
	labels := []string{"code", "method", "url"}
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "redrain_http_requests_total", Help: "HTTP requests, by status, method and route; the url of unknown paths is empty.",
	}, labels)
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "redrain_http_request_duration_seconds", Help: "Duration of HTTP requests, by status, method and route.", Buckets: prometheus.DefBuckets,
	}, labels)
	for _, collector := range []prometheus.Collector{requests, seconds} {
		if err := s.Metrics.Register(collector); err != nil {
			return nil, fmt.Errorf("register HTTP metrics: %w", err)
		}
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			since := time.Now()
			err := next(c)
			values := []string{strconv.Itoa(s.statusOf(c, err)), labeledMethod(c.Request().Method), c.Path()}
			requests.WithLabelValues(values...).Inc()
			seconds.WithLabelValues(values...).Observe(time.Since(since).Seconds())
			return err
		}
	}, nil
}

// statusOf is the status of a response that may not be written yet.
func (s *Server) statusOf(c echo.Context, err error) int {
	if err != nil && !c.Response().Committed {
		return s.refusalFor(err).status
	}
	return c.Response().Status
}

func labeledMethod(method string) string {
	if labeledMethods[method] {
		return method
	}
	return "other"
}

// contentSecurityPolicy allows pages to load only files of this site, and no inline scripts or styles.
var contentSecurityPolicy = strings.Join([]string{
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

// strictTransport tells browsers that got a page over HTTPS never to ask this host over plain HTTP, for a year.
const strictTransport = "max-age=31536000"

// secureHeaders sets the security headers of every response. Safari before 15.4 does not apply 'self' to WebSockets, so the policy also
// names the host: that of PUBLIC_URL, and that of the request, which a proxy may have changed.
func (s *Server) secureHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	_, publicHost, _ := strings.Cut(s.PublicURL, "://")
	return func(c echo.Context) error {
		policy := contentSecurityPolicy
		if host := c.Request().Host; host != publicHost && hostPattern.MatchString(host) {
			policy += " ws://" + host + " wss://" + host
		}
		if publicHost != "" {
			policy += " ws://" + publicHost + " wss://" + publicHost
		}
		header := c.Response().Header()
		header.Set(echo.HeaderContentSecurityPolicy, policy)
		header.Set(echo.HeaderXContentTypeOptions, "nosniff")
		header.Set(echo.HeaderReferrerPolicy, "same-origin")
		if s.publicIsHTTPS() {
			header.Set(echo.HeaderStrictTransportSecurity, strictTransport)
		}
		return next(c)
	}
}
