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

// clock stands still until a test moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// rig is a server over fakes.
type rig struct {
	t      *testing.T
	server *Server
	books  *books
	clock  *clock
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

// errAway stands for what a database that is away makes requests fail with.
var errAway = errors.New("the database is away")

func newRig(t *testing.T, change ...func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, books: newBooks(), clock: &clock{now: time.Unix(1_800_000_000, 0)}, log: new(bytes.Buffer)}
	sessions, err := NewSessions(secret, r.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	options := Options{
		Rooms: r.books, Rounds: r.books, Claims: r.books, Results: r.books, Money: r.books, Exports: r.books, Payouts: r.books, Tallies: r.books, Sessions: sessions,
		Desk: r.books, Guests: r.books, Speaker: r.books, Rehearsals: r.books,
		Gate: http.NotFoundHandler(), Pages: testPages(), Password: password,
		Unavailable: func(err error) bool { return errors.Is(err, errAway) },
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

// with changes a request before it is sent.
type with func(*rig, *http.Request)

func header(name, value string) with {
	return func(_ *rig, q *http.Request) { q.Header.Set(name, value) }
}

func asHost(r *rig, q *http.Request) {
	token, err := r.server.Sessions.NewHost()
	if err != nil {
		r.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+token)
}

func asPlayer(room, player string) with {
	return func(r *rig, q *http.Request) {
		token, err := r.server.Sessions.NewPlayer(room, player)
		if err != nil {
			r.t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+token)
	}
}

// call sends one request, with a JSON body unless it is empty.
func (r *rig) call(method, path, body string, changes ...with) *httptest.ResponseRecorder {
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
	if got, want := canonical(t, response.Body.String()), canonical(t, want); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func canonical(t *testing.T, text string) string {
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
