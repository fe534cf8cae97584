package api

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// asOperator makes a request that of a program on the server's machine.
func asOperator(_ *testServer, q *http.Request) {
	q.RemoteAddr, q.Host = "127.0.0.1:50000", "localhost:8080"
}

func at(peer, host string) requestOption {
	return func(_ *testServer, q *http.Request) { q.RemoteAddr, q.Host = peer, host }
}

// leaky is a server whose checks tell of the inside.
func leaky(t *testing.T, ready bool, change ...func(*Options)) *testServer {
	t.Helper()
	inside := func(context.Context) error { return errors.New("dial tcp 10.0.0.7:6379: connection refused") }
	return newTestServer(t, append(change, func(o *Options) {
		if o.Warnings = []Check{{Name: "durability", Run: inside}}; !ready {
			o.Checks = []Check{{Name: "redis", Run: inside}}
		}
	})...)
}

func TestOnlyOperatorsSeeTheInside(t *testing.T) {
	for name, test := range map[string]struct {
		who      []requestOption
		operator bool
	}{
		"this machine":               {[]requestOption{asOperator}, true},
		"this machine by address":    {[]requestOption{at("127.0.0.1:5", "127.0.0.1:8080")}, true},
		"this machine by IPv6":       {[]requestOption{at("[::1]:5", "[::1]:8080")}, true},
		"mapped to IPv6":             {[]requestOption{at("[::ffff:127.0.0.1]:5", "localhost")}, true},
		"a guest":                    {nil, false},
		"a guest in the same room":   {[]requestOption{at("192.168.1.7:5", "192.168.1.2:8080")}, false},
		"a guest who says localhost": {[]requestOption{at("192.168.1.7:5", "localhost:8080")}, false},
		"a proxy":                    {[]requestOption{asOperator, withHeader("X-Forwarded-For", "198.51.100.7")}, false},
		"a proxy of the standard":    {[]requestOption{asOperator, withHeader("Forwarded", "for=198.51.100.7")}, false},
		"a proxy for this machine":   {[]requestOption{asOperator, withHeader("X-Forwarded-For", "127.0.0.1")}, false},
		"a proxy's empty header":     {[]requestOption{asOperator, withHeader("X-Real-IP", "")}, false},
		"a proxy that hides itself":  {[]requestOption{at("127.0.0.1:5", "rain.example.org")}, false},
		"a name bound to loopback":   {[]requestOption{at("127.0.0.1:5", "localhost.example.org")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			metrics := leaky(t, true).call("GET", "/metrics", "", test.who...)
			if shown := metrics.Code == 200; shown != test.operator || (!shown && metrics.Code != 404) {
				t.Errorf("/metrics: got %d", metrics.Code)
			}
			for _, ready := range []bool{true, false} {
				got := leaky(t, ready).call("GET", "/readyz", "", test.who...)
				if shown := strings.Contains(got.Body.String(), "10.0.0.7"); shown != test.operator || (got.Code == 200) != ready {
					t.Errorf("/readyz: got %d %s", got.Code, got.Body)
				}
			}
		})
	}
	wantJSON(t, leaky(t, true).call("GET", "/readyz", ""), 200, `{"status":"ready"}`)
	if refused := wantRefused(t, leaky(t, false).call("GET", "/readyz", ""), 503, "not_ready"); refused.Message != "not ready" {
		t.Errorf("a guest sees %q", refused.Message)
	}
}

// With a listener of their own, operators see the inside there, from wherever they ask, and nowhere else.
func TestOperatorsHaveAListenerOfTheirOwn(t *testing.T) {
	r := leaky(t, false, func(o *Options) { o.OperatorListener = true })
	if got := r.call("GET", "/metrics", "", asOperator); got.Code != 404 {
		t.Errorf("the public listener's /metrics: got %d", got.Code)
	}
	if got := r.call("GET", "/readyz", "", asOperator); strings.Contains(got.Body.String(), "10.0.0.7") {
		t.Errorf("the public listener's /readyz: got %s", got.Body)
	}
	there := func(path string) *httptest.ResponseRecorder {
		response := httptest.NewRecorder()
		r.server.Operators().ServeHTTP(response, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		return response
	}
	if got := there("/metrics"); got.Code != 200 {
		t.Errorf("their /metrics: got %d", got.Code)
	}
	if refused := wantRefused(t, there("/readyz"), 503, "not_ready"); !strings.Contains(refused.Message, "10.0.0.7") {
		t.Errorf("their /readyz says %q", refused.Message)
	}
	for path, want := range map[string]int{"/healthz": 200, "/": 404, "/host": 404, "/api/rooms": 404, "/ws": 404} {
		if got := there(path); got.Code != want {
			t.Errorf("their %s: got %d, want %d", path, got.Code, want)
		}
	}
}
