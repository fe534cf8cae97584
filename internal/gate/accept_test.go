package gate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"redrain/internal/api"
	"redrain/internal/game"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

func header(pairs ...string) http.Header {
	h := make(http.Header)
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func TestWhoIsLetIn(t *testing.T) {
	i := newSite(t).instance()
	player := i.site.books.Join(room, "小明")
	c := testkit.Connect(t, i.visit(player))
	if want := (wire.You{Role: wire.RolePlayer, Player: player.ID, Nickname: "小明"}); c.Welcome.You != want {
		t.Errorf("you are %v, want %v", c.Welcome.You, want)
	}
	for _, visit := range []testkit.Visit{i.host(), i.screen()} {
		c := testkit.Connect(t, visit)
		if c.Welcome.You != (wire.You{Role: visit.Role}) || c.Welcome.Room.Code != room || c.Welcome.Round != nil {
			t.Errorf("%s hears %+v", visit.Role, c.Welcome)
		}
	}
	lower := i.screen()
	lower.Room = "party8"
	testkit.Connect(t, lower) // as people type it
}

func TestWhoIsRefused(t *testing.T) {
	s := newSite(t)
	i := s.instance()
	player := i.as("ann")
	elsewhere := i.visit(game.Player{ID: "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee", Room: "SUNNY8"})
	with := func(v testkit.Visit, change func(*testkit.Visit)) testkit.Visit {
		change(&v)
		return v
	}
	for name, test := range map[string]struct {
		visit  testkit.Visit
		status int
		code   string
	}{
		"no room":                  {with(i.screen(), func(v *testkit.Visit) { v.Room = "" }), 404, "room_not_found"},
		"not a code":               {with(i.screen(), func(v *testkit.Visit) { v.Room = "../etc" }), 404, "room_not_found"},
		"unknown room":             {with(i.screen(), func(v *testkit.Visit) { v.Room = "SUNNY8" }), 404, "room_not_found"},
		"no role":                  {with(i.screen(), func(v *testkit.Visit) { v.Role = "" }), 400, "bad_request"},
		"unknown role":             {with(i.screen(), func(v *testkit.Visit) { v.Role = "Player" }), 400, "bad_request"},
		"player without a token":   {with(player, func(v *testkit.Visit) { v.Token = "" }), 401, "unauthorized"},
		"player with a bad token":  {with(player, func(v *testkit.Visit) { v.Token += "x" }), 401, "unauthorized"},
		"token of another room":    {with(elsewhere, func(v *testkit.Visit) { v.Room = room }), 401, "unauthorized"},
		"player who is gone":       {i.visit(game.Player{ID: "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee", Room: room}), 401, "unauthorized"},
		"host without a token":     {with(i.host(), func(v *testkit.Visit) { v.Token = "" }), 401, "unauthorized"},
		"host with a player's":     {with(i.host(), func(v *testkit.Visit) { v.Token = player.Token }), 401, "unauthorized"},
		"player with a host's":     {with(player, func(v *testkit.Visit) { v.Token = i.host().Token }), 401, "unauthorized"},
		"screen of a foreign page": {with(i.screen(), func(v *testkit.Visit) { v.Header = header("Origin", "https://evil.example") }), 403, "origin_refused"},
		"null origin":              {with(i.screen(), func(v *testkit.Visit) { v.Header = header("Origin", "null") }), 403, "origin_refused"},
	} {
		t.Run(name, func(t *testing.T) {
			if status, code := testkit.Refused(t, test.visit); status != test.status || code != test.code {
				t.Errorf("%d %s, want %d %s", status, code, test.status, test.code)
			}
		})
	}
}

// A foreign page opened a socket with its visitor's cookie. And a program without Origin has no browser that would
// keep a cookie from strangers, so its cookie proves nothing.
func TestCookiesCountOnlyWithAnAllowedOrigin(t *testing.T) {
	i := newSite(t).instance()
	for role, visit := range map[string]testkit.Visit{"player": i.as("ann"), "host": i.host()} {
		cookie := api.HostCookie
		if role == "player" {
			cookie = api.PlayerCookie
		}
		cookie += "=" + visit.Token
		byCookie := visit
		byCookie.Token = ""
		for name, test := range map[string]struct {
			header http.Header
			status int // 0: let in
		}{
			"own page":       {header("Cookie", cookie, "Origin", i.url), 0},
			"allowed page":   {header("Cookie", cookie, "Origin", "https://partner.example"), 0},
			"foreign page":   {header("Cookie", cookie, "Origin", "https://evil.example"), 403},
			"two origins":    {header("Cookie", cookie, "Origin", i.url, "Origin", "https://evil.example"), 403},
			"no origin":      {header("Cookie", cookie), 401},
			"another cookie": {header("Cookie", "other="+visit.Token, "Origin", i.url), 401},
		} {
			t.Run(role+", "+name, func(t *testing.T) {
				byCookie.Header = test.header
				if test.status == 0 {
					testkit.Connect(t, byCookie)
				} else if status, _ := testkit.Refused(t, byCookie); status != test.status {
					t.Errorf("status %d, want %d", status, test.status)
				}
			})
		}
		t.Run(role+", a foreign page with a token", func(t *testing.T) {
			stolen := visit
			stolen.Header = header("Origin", "https://evil.example")
			if status, _ := testkit.Refused(t, stolen); status != http.StatusForbidden {
				t.Errorf("status %d", status)
			}
		})
		testkit.Connect(t, visit) // no Origin, with the token
	}
}

// With gzip in front of the upgrade, a browser's Accept-Encoding hung the handshake.
func TestUpgradeWithABrowsersHeaders(t *testing.T) {
	i := newSite(t).instance()
	visit := i.as("ann")
	visit.Header = header("Accept-Encoding", "gzip, deflate, br, zstd", "Origin", i.url, "Cache-Control", "no-cache",
		"Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits", "User-Agent", "Mozilla/5.0")
	c := testkit.Connect(t, visit)
	if pong := c.Ping(7); pong.Sent != 7 {
		t.Errorf("pong %v", pong)
	}
}

func TestWhatIsNoUpgradeIsRefusedInJSON(t *testing.T) {
	i := newSite(t).instance()
	upgrade := func(change ...string) http.Header {
		h := header("Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13",
			"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
		for n := 0; n < len(change); n += 2 {
			h.Set(change[n], change[n+1])
		}
		return h
	}
	for name, test := range map[string]struct {
		method string
		header http.Header
		status int
	}{
		"a plain request":  {http.MethodGet, header(), http.StatusUpgradeRequired},
		"another protocol": {http.MethodGet, upgrade("Upgrade", "h2c"), http.StatusUpgradeRequired},
		"an old version":   {http.MethodGet, upgrade("Sec-WebSocket-Version", "8"), http.StatusBadRequest},
		"a bad key":        {http.MethodGet, upgrade("Sec-WebSocket-Key", "short"), http.StatusBadRequest},
		"a POST":           {http.MethodPost, upgrade(), http.StatusMethodNotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), test.method, i.url+"/ws?role=screen&room="+room, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Header = test.header
			transport := &http.Transport{DisableKeepAlives: true}
			response, err := transport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != test.status || response.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%d %s: %s, want %d in JSON", response.StatusCode, response.Header.Get("Content-Type"), body, test.status)
			}
			want := fmt.Sprintf(`{"error":{"code":%q,"message":`, "bad_request")
			if len(body) < len(want) || string(body[:len(want)]) != want {
				t.Errorf("body %s", body)
			}
		})
	}
	if n := i.gate.Connections(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

func TestNobodyIsLetInWhileTheBooksAreDown(t *testing.T) {
	s := newSite(t)
	i := s.instance()
	player := i.as("ann")
	testkit.Connect(t, i.screen())
	s.books.Fail(errors.New("the database is down: secret address"))
	if status, code := testkit.Refused(t, player); status != 503 || code != "not_ready" {
		t.Errorf("%d %s", status, code)
	}
	s.books.Fail(nil)
	testkit.Connect(t, player)
}

// The connection must not live in its handler, or on the request's context: the memory that both hold would stay for as long
// as the connection, and the context ends with the handler.
func TestTheHandlerReturnsBeforeTheConnectionEnds(t *testing.T) {
	s := newSite(t)
	i := s.instance()
	returned := make(chan context.Context, 1)
	server := s.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.gate.ServeHTTP(w, r)
		returned <- r.Context()
	}))
	defer server.Close()
	visit := i.as("ann")
	visit.URL = server.URL
	c := testkit.Connect(t, visit)
	select {
	case ctx := <-returned:
		<-ctx.Done()
	case <-time.After(10 * time.Second):
		t.Fatal("the handler is still there")
	}
	if pong := c.Ping(1); pong.Sent != 1 {
		t.Error("the connection does not work on")
	}
}

// A gate that closes lets nobody in any more, and says that another instance will.
func TestAClosedGateTellsToComeBack(t *testing.T) {
	s := newSite(t)
	i := s.instance()
	if err := i.gate.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	raw := dialRaw(t, i.screen())
	if code, reason := raw.closeFrame(); code != int(wire.CloseGoingAway) || reason != "going_away" {
		t.Errorf("closed with %d %s", code, reason)
	}
}

// A player's connection breaks while the database hangs, which kept them out until it was over. Here the room knows them; who is
// not known to it cannot be let in, and a blocked one is not.
func TestAPlayerComesBackWhileTheDatabaseHangs(t *testing.T) {
	i := newSite(t).instance()
	ann, stranger := i.site.books.Join(room, "ann"), i.site.books.Join(room, "stranger")
	first := testkit.Connect(t, i.visit(ann))
	heal := i.site.books.Hang()
	defer heal()
	first.Drop()
	again := testkit.Connect(t, i.visit(ann))
	if want := (wire.You{Role: wire.RolePlayer, Player: ann.ID, Nickname: "ann"}); again.Welcome.You != want {
		t.Errorf("you are %v, want %v", again.Welcome.You, want)
	}
	if status, code := testkit.Refused(t, i.visit(stranger)); status != http.StatusServiceUnavailable || code != "not_ready" {
		t.Errorf("a stranger: %d %s", status, code)
	}
}

// A host's open sockets end with the session in which they were opened, and with no other.
func TestSocketsEndWithTheHostsSession(t *testing.T) {
	i := newSite(t).instance()
	leaving, staying, screen := i.host(), i.host(), testkit.Connect(t, i.screen())
	first, second, other := testkit.Connect(t, leaving), testkit.Connect(t, leaving), testkit.Connect(t, staying)
	session, err := i.site.sessions.Host(leaving.Token)
	if err != nil {
		t.Fatal(err)
	}
	if err := i.site.sessions.EndHost(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	first.WantClose(wire.CloseSessionEnded)
	second.WantClose(wire.CloseSessionEnded)
	if status, code := testkit.Refused(t, leaving); status != http.StatusUnauthorized || code != "unauthorized" {
		t.Errorf("again with the same token: %d %s", status, code)
	}
	other.Ping(1)
	screen.Ping(2)
}
