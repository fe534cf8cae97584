package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"redrain/internal/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(testkit.Main(m)) }

const (
	password  = "correct horse"
	ownOrigin = "http://example.com" // httptest's own host
)

var secret = []byte("0123456789abcdef0123456789abcdef")

// fakeClock is a clock that only advances when a test says so.
type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// testServer is a server with fake dependencies.
type testServer struct {
	t      *testing.T
	server *Server
	store  *fakeStore
	clock  *fakeClock
	log    *bytes.Buffer
}

func testPages() fs.FS {
	page := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("<!doctype html><title>" + name + "</title>" + strings.Repeat("<p>rain</p>", 50))}
	}
	return fstest.MapFS{
		"join/index.html": page("join"), "player/index.html": page("player"),
		"host/index.html": page("host"), "screen/index.html": page("screen"),
		"shared/app.js":                  {Data: []byte("export const rain = 1;\n" + strings.Repeat("// drop\n", 100))},
		"shared/base.css":                {Data: []byte("body{}")},
		"shared/icon.png":                {Data: bytes.Repeat([]byte("png"), 100)},
		"shared/app.test.js":             {Data: []byte("test")},
		"shared/testdata/a.json":         {Data: []byte("{}")},
		"shared/types.d.ts":              {Data: []byte("type")},
		"shared/NOTES.md":                {Data: []byte("notes")},
		"package.json":                   {Data: []byte("{}")},
		"node_modules/typescript/tsc.js": {Data: []byte("tsc")},
	}
}

// errDatabaseAway stands for the error of a database that is temporarily unreachable.
var errDatabaseAway = errors.New("the database is away")

func newTestServer(t *testing.T, change ...func(*Options)) *testServer {
	t.Helper()
	r := &testServer{t: t, store: newFakeStore(), clock: &fakeClock{now: time.Unix(1_800_000_000, 0)}, log: new(bytes.Buffer)}
	sessions, err := NewSessions(secret, password, r.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	options := Options{
		Rooms: r.store, Rounds: r.store, Claims: r.store, Results: r.store, Money: r.store, Exports: r.store, Payouts: r.store, Tallies: r.store, Sessions: sessions,
		RoomAdmin: r.store, Guests: r.store, Publisher: r.store, Rehearsals: r.store,
		Gate: http.NotFoundHandler(), Pages: testPages(),
		Unavailable: func(err error) bool { return errors.Is(err, errDatabaseAway) },
		Metrics:     prometheus.NewRegistry(), Logger: slog.New(slog.NewTextHandler(r.log, nil)), Now: r.clock.Now,
	}
	for _, do := range change {
		do(&options)
	}
	if r.server, err = New(options); err != nil {
		t.Fatal(err)
	}
	return r
}

// requestOption changes a request before it is sent.
type requestOption func(*testServer, *http.Request)

func withHeader(name, value string) requestOption {
	return func(_ *testServer, q *http.Request) { q.Header.Set(name, value) }
}

func asHost(r *testServer, q *http.Request) {
	token, err := r.server.Sessions.NewHostToken()
	if err != nil {
		r.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+token)
}

func asPlayer(room, player string) requestOption {
	return func(r *testServer, q *http.Request) {
		token, err := r.server.Sessions.NewPlayerToken(room, player)
		if err != nil {
			r.t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+token)
	}
}

// call sends one request, with a JSON body unless it is empty.
func (r *testServer) call(method, path, body string, changes ...requestOption) *httptest.ResponseRecorder {
	r.t.Helper()
	request := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, change := range changes {
		change(r, request)
	}
	response := httptest.NewRecorder()
	r.server.ServeHTTP(response, request)
	return response
}

// wantJSON compares an answer with JSON, regardless of the order of fields.
func wantJSON(t *testing.T, response *httptest.ResponseRecorder, status int, want string) {
	t.Helper()
	if response.Code != status || response.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("got %d %s %s, want %d %s", response.Code, response.Header().Get("Content-Type"), response.Body, status, want)
	}
	if got, want := canonicalJSON(t, response.Body.String()), canonicalJSON(t, want); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func canonicalJSON(t *testing.T, text string) string {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%q is not JSON: %v", text, err)
	}
	sorted, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(sorted)
}

// wantRefused checks that an answer is exactly one JSON error with this code.
func wantRefused(t *testing.T, response *httptest.ResponseRecorder, status int, code string) errorDetail {
	t.Helper()
	var refused errorAnswer
	decoder := json.NewDecoder(strings.NewReader(response.Body.String()))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&refused); err != nil {
		t.Fatalf("got %d %q, want a JSON error: %v", response.Code, response.Body, err)
	}
	if response.Code != status || refused.Error.Code != code || refused.Error.Message == "" {
		t.Errorf("got %d %+v, want %d %s with a message", response.Code, refused.Error, status, code)
	}
	for _, inside := range []string{"goroutine", ".go:", "<html", "game.", "wire.", "json:"} {
		if strings.Contains(response.Body.String(), inside) {
			t.Errorf("the refusal shows the server's inside: %s", response.Body)
		}
	}
	return refused.Error
}
