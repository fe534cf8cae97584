package api

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// operatorKey marks the context of a request that came to the operators' own listener.
type operatorKey struct{}

// Operators returns the handler for a listener that only operators reach: metrics, and readiness with its reasons.
func (s *Server) Operators() http.Handler {
	forOperators := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), operatorKey{}, true)))
	})
	pages := http.NewServeMux()
	for _, path := range []string{"/metrics", "/readyz", "/healthz"} {
		pages.Handle(path, forOperators)
	}
	return pages
}

// forwardedHeaders are set by proxies. Whoever came through one is not at this machine, though the connection is.
var forwardedHeaders = []string{
	"Forwarded", "Via", echo.HeaderXForwardedFor, echo.HeaderXForwardedProto, "X-Forwarded-Host", "X-Forwarded-Port", echo.HeaderXRealIP,
	"CF-Connecting-IP", "True-Client-IP", "X-Client-IP",
}

// isOperator reports whether a request may see how this instance works inside: it came to the operators' own listener or, if there
// is none, from a program on this machine. Neither a page of another site nor a proxy that hides itself gets there by asking for
// another host.
func (s *Server) isOperator(r *http.Request) bool {
	if marked, _ := r.Context().Value(operatorKey{}).(bool); marked || s.OperatorListener {
		return marked
	}
	for _, name := range forwardedHeaders {
		if len(r.Header.Values(name)) > 0 {
			return false
		}
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback() && isLoopbackHost(r.Host)
}

func isLoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || (err == nil && address.Unmap().IsLoopback())
}

// showMetrics serves the metrics to operators. For others there is no such page.
func (s *Server) showMetrics() echo.HandlerFunc {
	show := echo.WrapHandler(promhttp.HandlerFor(s.Metrics, promhttp.HandlerOpts{DisableCompression: true}))
	return func(c echo.Context) error {
		if !s.isOperator(c.Request()) {
			return errPageNotFound
		}
		return show(c)
	}
}
