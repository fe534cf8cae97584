package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"redrain/internal/game"
)

func TestEveryResponseHasSecurityHeaders(t *testing.T) {
	r := newTestServer(t)
	for _, path := range []string{"/", "/host", "/nothing", "/assets/shared/app.js", "/api/rooms/RAXN88", "/api/rooms", "/api/nothing", "/healthz"} {
		got := r.call("GET", path, "").Header()
		policy := got.Get("Content-Security-Policy")
		for _, part := range []string{
			"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "base-uri 'none'",
			"form-action 'self'", "frame-ancestors 'none'", "connect-src 'self' ws://example.com wss://example.com",
		} {
			if !slices.Contains(strings.Split(policy, "; "), part) {
				t.Errorf("%s: the policy lacks %q: %s", path, part, policy)
			}
		}
		if strings.Contains(policy, "unsafe") || got.Get("X-Content-Type-Options") != "nosniff" || got.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("%s: got %v", path, got)
		}
	}
	for _, host := range []string{"evil.example; script-src *", "a b", "'unsafe-inline'"} {
		answer := r.call("GET", "/", "", func(_ *testServer, q *http.Request) { q.Host = host })
		if policy := answer.Header().Get("Content-Security-Policy"); !strings.HasSuffix(policy, "; connect-src 'self'") {
			t.Errorf("a made-up host is in the policy: %s", policy)
		}
	}
}

func TestPanicsAreLoggedAndNotShown(t *testing.T) {
	r := newTestServer(t)
	r.store.onCall = func() { panic("a secret of the inside") }
	response := r.call("GET", "/api/rooms/RAXN88", "")
	wantRefused(t, response, 500, "fault")
	if strings.Contains(response.Body.String(), "inside") {
		t.Errorf("the panic shows: %s", response.Body)
	}
	if log := r.log.String(); !strings.Contains(log, "a secret of the inside") || !strings.Contains(log, "fake_store_test.go") {
		t.Errorf("the log lacks the panic or its stack: %s", log)
	}
}

func TestErrorsOfOtherPackagesMapToRefusals(t *testing.T) {
	for err, want := range map[error]struct {
		status int
		code   string
	}{
		errors.New("disk full"):    {500, "fault"},
		game.ErrBusy:               {503, "busy"},
		game.ErrUnknown:            {503, "busy"},
		game.ErrNotYet:             {409, "wrong_phase"},
		game.ErrGone:               {409, "keys_lost"},
		game.ErrTorn:               {409, "keys_lost"},
		game.ErrRefused:            {503, "busy"},
		errDatabaseAway:            {503, "busy"},
		context.DeadlineExceeded:   {503, "busy"},
		http.ErrBodyReadAfterClose: {500, "fault"},
	} {
		r := newTestServer(t)
		r.store.fail = err
		response := r.call("POST", "/api/rooms", `{"name":"a"}`, asHost)
		wantRefused(t, response, want.status, want.code)
		if logged := strings.Contains(r.log.String(), err.Error()); logged != (want.status == 500) {
			t.Errorf("%v: logged %v", err, logged)
		}
	}
}

// With the Accept-Encoding header of browsers an upgrade would hang behind a compressing writer. The gate must get the
// ResponseWriter of http.Server itself.
func TestGateGetsTheUnwrappedConnection(t *testing.T) {
	r := newTestServer(t, func(o *Options) {
		o.Gate = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n%s", q.URL.RawQuery)
		})
	})
	site := httptest.NewServer(r.server)
	defer site.Close()
	conn, err := net.Dial("tcp", site.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /ws?room=RAXN88 HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nAccept-Encoding: gzip, deflate, br\r\n\r\n")
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	rest := make([]byte, len("room=RAXN88"))
	if _, err := reader.Read(rest); err != nil || response.StatusCode != http.StatusSwitchingProtocols || string(rest) != "room=RAXN88" {
		t.Errorf("got %d %q, %v", response.StatusCode, rest, err)
	}
}

// Values that clients invent must not become labels, since each would create a new time series.
func TestMetricsHaveNoLabelsFromClients(t *testing.T) {
	r := newTestServer(t)
	r.call("GET", "/api/rooms/RAXN88", "")
	r.call("GET", "/api/rooms/NRNE22", "")
	r.call("BREW", "/api/rooms/coffee", "")
	for i := range 20 {
		r.call("GET", fmt.Sprintf("/made/up/%d", i), "", func(_ *testServer, q *http.Request) { q.Host = fmt.Sprintf("host%d", i) })
	}
	text := r.call("GET", "/metrics", "", asOperator).Body.String()
	for _, line := range []string{
		`redrain_http_requests_total{code="200",method="GET",url="/api/rooms/:code"} 1`,
		`redrain_http_requests_total{code="404",method="GET",url="/api/rooms/:code"} 1`,
		`redrain_http_requests_total{code="405",method="other",url="/api/rooms/:code"} 1`,
		`redrain_http_requests_total{code="404",method="GET",url=""} 20`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
	if strings.Contains(text, "made") || strings.Contains(text, "host1") || strings.Contains(text, "BREW") {
		t.Error("made-up words are in the metrics")
	}
	r.store.onCall = func() { panic("x") }
	r.call("GET", "/api/rooms/RAXN88", "")
	if text := r.call("GET", "/metrics", "", asOperator).Body.String(); !strings.Contains(text, `{code="500",method="GET",url="/api/rooms/:code"} 1`) {
		t.Error("a panic is not counted as 500")
	}
}

func TestQRCodeHoldsTheURLOfTheRoom(t *testing.T) {
	r := newTestServer(t)
	asked := r.call("GET", "/api/rooms/raxn88/qr.svg", "")
	if asked.Code != 200 || asked.Header().Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(asked.Body.String(), "<svg ") {
		t.Fatalf("got %d %s %.80s", asked.Code, asked.Header().Get("Content-Type"), asked.Body)
	}
	wantModules(t, asked.Body.String(), "http://example.com/r/RAXN88")
	secure := r.call("GET", "https://example.com:8443/api/rooms/RAXN88/qr.svg", "")
	wantModules(t, secure.Body.String(), "https://example.com:8443/r/RAXN88")
	wantRefused(t, r.call("GET", "/api/rooms/RAXN88/qr.svg", "", func(_ *testServer, q *http.Request) { q.Host = "a b" }), 400, "bad_request")

	r = newTestServer(t, func(o *Options) { o.PublicURL = "https://rain.example.org/" })
	wantModules(t, r.call("GET", "/api/rooms/RAXN88/qr.svg", "").Body.String(), "https://rain.example.org/r/RAXN88")
}

func TestInvalidPublicURLIsRefused(t *testing.T) {
	for text, fine := range map[string]bool{
		"": true, "https://rain.example.org": true, "http://10.0.0.7:8080/": true, "http://[::1]:80": true,
		"rain.example.org": false, "ftp://rain.example.org": false, "https://": false, "https://rain.example.org/path": false,
		"https://rain.example.org?x": false, "https://user@rain.example.org": false, "https://rain example.org": false,
	} {
		if _, err := parsePublicURL(text); (err == nil) != fine {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestEmptyPasswordIsRefused(t *testing.T) {
	if _, err := NewSessions(secret, "", time.Now); err == nil || !strings.Contains(err.Error(), "password") {
		t.Errorf("got %v", err)
	}
}

// findErrorCodes finds the codes of errors in a Go file.
func findErrorCodes(t *testing.T, file, pattern string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, match := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
		codes = append(codes, string(match[1]))
	}
	return codes
}

func TestDocumentListsEveryCode(t *testing.T) {
	code := findErrorCodes(t, "errors.go", `refusal\{(?:http\.\w+|status), "(\w+)"`)
	code = append(code, findErrorCodes(t, "../game/settings.go", `Code: "(\w+)"`)...)
	code = append(code, findErrorCodes(t, "../game/text.go", `Code: "(\w+)"`)...)
	code = append(code, findErrorCodes(t, "../wire/strict.go", `Code\w+ += "(\w+)"`)...)
	slices.Sort(code)
	code = slices.Compact(code)

	document, err := os.ReadFile("../wire/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(document), "### Codes of HTTP errors\n")
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| \\d{3} \\|").FindAllStringSubmatch(section, -1) {
		documented = append(documented, row[1])
	}
	slices.Sort(documented)
	if !found || len(code) < 20 || !slices.Equal(code, documented) {
		t.Errorf("the code has %v, protocol.md %v", code, documented)
	}
}

// After RefuseRequests no request is handled any more, except those that were already being handled.
func TestRefuseRequestsHandlesNothingNew(t *testing.T) {
	r := newTestServer(t)
	r.server.RefuseRequests()
	for _, path := range []string{"/ws", "/", "/api/rooms/RAXN88", "/healthz"} {
		wantRefused(t, r.call("GET", path, ""), 503, "busy")
	}
	wantRefused(t, r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"a"}`), 503, "busy")
	if r.store.changed > 0 || r.server.ActiveRequests() != 0 {
		t.Errorf("%d changes, %d requests under way", r.store.changed, r.server.ActiveRequests())
	}
}
