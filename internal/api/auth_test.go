package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"redrain/internal/game"
)

// withCookies sends the cookies of an earlier response, like a browser.
func withCookies(cookies []*http.Cookie) requestOption {
	return func(_ *testServer, q *http.Request) {
		for _, cookie := range cookies {
			q.AddCookie(cookie)
		}
	}
}

func (r *testServer) logIn() []*http.Cookie {
	r.t.Helper()
	response := r.call("POST", "/api/host/session", `{"password":"`+password+`"}`)
	if response.Code != 200 {
		r.t.Fatalf("log in: %d %s", response.Code, response.Body)
	}
	return response.Result().Cookies()
}

func TestLogInReturnsTheTokenInBodyAndCookie(t *testing.T) {
	r := newTestServer(t)
	response := r.call("POST", "/api/host/session", `{"password":"`+password+`"}`)
	var body tokenAnswer
	if err := json.Unmarshal(response.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	cookies := response.Result().Cookies()
	if len(cookies) != 1 || cookies[0].Name != HostCookie || cookies[0].Value != body.Token {
		t.Fatalf("got cookies %v, want the token", cookies)
	}
	wantCookie(t, cookies[0], 12*time.Hour, false)
	if _, err := r.server.Sessions.Host(body.Token); err != nil {
		t.Error(err)
	}
}

func wantCookie(t *testing.T, cookie *http.Cookie, lasts time.Duration, secure bool) {
	t.Helper()
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" ||
		cookie.MaxAge != int(lasts.Seconds()) || cookie.Secure != secure {
		t.Errorf("got the cookie %v", cookie)
	}
}

func TestPlayersHaveOneCookie(t *testing.T) {
	r := newTestServer(t, func(o *Options) { o.PublicURL = "https://rain.example.org/" })
	cookies := r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"a"}`).Result().Cookies()
	if len(cookies) != 1 || cookies[0].Name != "redrain_player" {
		t.Fatalf("got cookies %v", cookies)
	}
	wantCookie(t, cookies[0], 7*24*time.Hour, true)
}

func TestCookiesAreSecureOverTLS(t *testing.T) {
	r := newTestServer(t)
	response := r.call("POST", "https://example.com/api/rooms/RAXN88/players", `{"nickname":"a"}`)
	wantCookie(t, response.Result().Cookies()[0], 7*24*time.Hour, true)
}

func TestLogOutDeletesTheCookie(t *testing.T) {
	r := newTestServer(t)
	response := r.call("DELETE", "/api/host/session", "", withCookies(r.logIn()), withHeader("Origin", ownOrigin))
	if cookies := response.Result().Cookies(); response.Code != 204 || len(cookies) != 1 || cookies[0].Value != "" || cookies[0].MaxAge >= 0 {
		t.Errorf("got %d, cookies %v", response.Code, cookies)
	}
}

// A page of another site makes a visitor's browser send a request with the visitor's cookie.
func TestPagesOfOtherSitesCannotChangeAnything(t *testing.T) {
	r := newTestServer(t, func(o *Options) { o.Origins.Allowed = []string{"https://partner.example"} })
	cookies := withCookies(r.logIn())
	post := func(changes ...requestOption) int {
		return r.call("POST", "/api/rooms", `{"name":"a"}`, changes...).Code
	}
	for name, tt := range map[string]struct {
		changes []requestOption
		want    int
	}{
		"cookie from this site":         {[]requestOption{cookies, withHeader("Origin", ownOrigin)}, 201},
		"cookie from an allowed site":   {[]requestOption{cookies, withHeader("Origin", "https://partner.example")}, 201},
		"cookie from another site":      {[]requestOption{cookies, withHeader("Origin", "https://evil.example")}, 403},
		"cookie from a sandboxed frame": {[]requestOption{cookies, withHeader("Origin", "null")}, 403},
		"cookie without an origin":      {[]requestOption{cookies}, 401},
		"token without an origin":       {[]requestOption{asHost}, 201},
		"token from another site":       {[]requestOption{asHost, withHeader("Origin", "https://evil.example")}, 403},
		"token of nobody, own cookie":   {[]requestOption{cookies, withHeader("Origin", ownOrigin), withHeader("Authorization", "Bearer x")}, 401},
	} {
		before := r.store.changed
		if got := post(tt.changes...); got != tt.want {
			t.Errorf("%s: got %d, want %d", name, got, tt.want)
		}
		if changed := r.store.changed > before; changed != (tt.want == 201) {
			t.Errorf("%s: changed: %v", name, changed)
		}
	}
	if got := r.call("GET", "/api/rooms", "", cookies).Code; got != 200 {
		t.Errorf("reading by cookie, for which browsers send no origin: got %d", got)
	}
	wantRefused(t, r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"a"}`, withHeader("Origin", "https://evil.example")), 403, "origin_refused")
}

func TestPlayersCookieIsValidInOneRoom(t *testing.T) {
	r := newTestServer(t)
	token, err := r.server.Sessions.NewPlayerToken("NRNE22", playerA)
	if err != nil {
		t.Fatal(err)
	}
	stolen := withCookies([]*http.Cookie{{Name: PlayerCookie, Value: token}})
	wantRefused(t, r.call("GET", "/api/rooms/RAXN88/players/me", "", stolen), 401, "unauthorized")
	wantRefused(t, r.call("GET", "/api/rounds/"+roundA+"/claims/me", "", stolen), 401, "unauthorized")
}

func withRemoteAddr(address string) requestOption {
	return func(_ *testServer, q *http.Request) { q.RemoteAddr = address }
}

// What is refused for another reason than the limit does not use it up.
func TestJoinsWithBadBodiesDoNotCount(t *testing.T) {
	r := newTestServer(t)
	for range joinBurst {
		for _, body := range []string{`{`, `{"nickname":""}`, `{"nickname":"a","cents":1}`, `[]`, ""} {
			if got := r.call("POST", "/api/rooms/RAXN88/players", body).Code; got < 400 || got == 429 {
				t.Fatalf("%q: got %d", body, got)
			}
		}
		r.call("POST", "/api/rooms/RAXN88/players/token", `{"token":"x"}`)
	}
	if got := r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"a"}`).Code; got != 201 {
		t.Errorf("a good one afterwards: got %d", got)
	}
}

// 300 players behind one address scan the QR code at the same time, and all may join.
func TestManyPlayersJoinFromOneAddress(t *testing.T) {
	r := newTestServer(t)
	join := func() int { return r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"a"}`).Code }
	for i := range joinBurst {
		if got := join(); got != 201 {
			t.Fatalf("player %d: got %d", i+1, got)
		}
	}
	if got := join(); got != 429 {
		t.Errorf("the next one at the same moment: got %d, want 429", got)
	}
	r.clock.advance(time.Second)
	for i := range joinRate {
		if got := join(); got != 201 {
			t.Fatalf("player %d of the next second: got %d", i+1, got)
		}
	}
}

func TestOnlyThePasswordItselfIsThePassword(t *testing.T) {
	sessions, _ := testSessions(t)
	for guess, want := range map[string]bool{
		password: true, "": false, password + " ": false, strings.ToUpper(password): false, password[:5]: false,
	} {
		if sessions.IsPassword(guess) != want {
			t.Errorf("%q: got %v", guess, !want)
		}
	}
}

// manyRooms has a room under every code.
type manyRooms struct {
	Rooms
	players []game.Player
}

func (m *manyRooms) Room(_ context.Context, code string) (game.Room, error) {
	return game.Room{Code: code}, nil
}

func (m *manyRooms) AddPlayer(_ context.Context, room, nickname string) (game.Player, error) {
	m.players = append(m.players, game.Player{ID: uuid.NewString(), Room: room, Nickname: nickname})
	return m.players[len(m.players)-1], nil
}

func (m *manyRooms) Player(_ context.Context, id string) (game.Player, error) {
	return find(m.players, func(p game.Player) bool { return p.ID == id })
}

// Somebody who joins many rooms in a week sends all of that with every request, also for a page, and some servers take 8 KB of headers.
func TestManyRoomsFitInTheHeaders(t *testing.T) {
	rooms := &manyRooms{}
	r := newTestServer(t, func(o *Options) { o.Rooms = rooms })
	jar := map[string]*http.Cookie{}
	send := func(_ *testServer, q *http.Request) {
		for _, cookie := range jar {
			q.AddCookie(cookie)
		}
	}
	ids := make(map[string]string)
	codes := make([]string, 200)
	for i := range codes {
		codes[i] = game.NewCode()
		r.clock.advance(time.Minute)
		response := r.call("POST", "/api/rooms/"+codes[i]+"/players", `{"nickname":"a"}`, send, withHeader("Origin", ownOrigin))
		var joined joinedAnswer
		if err := json.Unmarshal(response.Body.Bytes(), &joined); err != nil || response.Code != 201 {
			t.Fatalf("room %d: %d %s", i, response.Code, response.Body)
		}
		ids[codes[i]] = joined.Player.ID
		for _, cookie := range response.Result().Cookies() {
			if jar[cookie.Name] = cookie; len(cookie.String()) > 4096 {
				t.Fatalf("room %d: browsers do not store %d bytes", i, len(cookie.String()))
			}
		}
	}
	var sent []string
	for _, cookie := range jar {
		sent = append(sent, cookie.Name+"="+cookie.Value)
	}
	if size := len(strings.Join(sent, "; ")); size > 4096 {
		t.Errorf("every request brings %d bytes of cookies", size)
	}
	for _, code := range codes[len(codes)-maxCookieRooms:] {
		response := r.call("GET", "/api/rooms/"+code+"/players/me", "", send)
		if response.Code != 200 || !strings.Contains(response.Body.String(), ids[code]) {
			t.Fatalf("room %s does not know its player any more: %d %s", code, response.Code, response.Body)
		}
	}
	last := codes[len(codes)-1]
	again := r.call("POST", "/api/rooms/"+last+"/players", `{"nickname":"b"}`, send, withHeader("Origin", ownOrigin))
	if !strings.Contains(again.Body.String(), ids[last]) {
		t.Errorf("who joins again is somebody else: %s", again.Body)
	}
}

// One device's rooms are lost to nobody who forges or borrows: a cookie that is not genuine is dropped whole.
func TestForgedCookiesBringNoRooms(t *testing.T) {
	sessions, _ := testSessions(t)
	foreign, err := NewSessions([]byte(strings.Repeat("x", 32)), password, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	forged, err := foreign.NewPlayerCookie("", "NRNE22", playerB)
	if err != nil {
		t.Fatal(err)
	}
	cookie, err := sessions.NewPlayerCookie(forged, code, playerA)
	if err != nil {
		t.Fatal(err)
	}
	if id, err := sessions.Player(cookie, code); err != nil || id != playerA {
		t.Errorf("got %q, %v", id, err)
	}
	for _, room := range []string{"NRNE22", "", code[:5], "seats"} {
		if id, err := sessions.Player(cookie, room); !errors.Is(err, ErrUnauthorized) {
			t.Errorf("%q: got %q, %v", room, id, err)
		}
	}
}
