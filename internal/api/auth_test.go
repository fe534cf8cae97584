package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// jar keeps the cookies of an answer for the next requests, like a browser.
func jar(cookies []*http.Cookie) with {
	return func(_ *rig, q *http.Request) {
		for _, cookie := range cookies {
			q.AddCookie(cookie)
		}
	}
}

func (r *rig) logIn() []*http.Cookie {
	r.t.Helper()
	response := r.call("POST", "/api/host/session", `{"password":"`+password+`"}`)
	if response.Code != 200 {
		r.t.Fatalf("log in: %d %s", response.Code, response.Body)
	}
	return response.Result().Cookies()
}

func TestLogInGivesTheTokenTwice(t *testing.T) {
	r := newRig(t)
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
	if err := r.server.Sessions.Host(body.Token); err != nil {
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

func TestPlayersHaveACookieARoom(t *testing.T) {
	r := newRig(t, func(o *Options) { o.PublicURL = "https://rain.example.org/" })
	cookies := r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"a"}`).Result().Cookies()
	if len(cookies) != 1 || cookies[0].Name != "redrain_player_RAXN88" {
		t.Fatalf("got cookies %v", cookies)
	}
	wantCookie(t, cookies[0], 7*24*time.Hour, true)
}

func TestCookiesAreSecureOverTLS(t *testing.T) {
	r := newRig(t)
	response := r.call("POST", "https://example.com/api/rooms/RAXN88/players", `{"nickname":"a"}`)
	wantCookie(t, response.Result().Cookies()[0], 7*24*time.Hour, true)
}

func TestLogOutTakesTheCookieBack(t *testing.T) {
	r := newRig(t)
	response := r.call("DELETE", "/api/host/session", "", jar(r.logIn()), header("Origin", ownOrigin))
	if cookies := response.Result().Cookies(); response.Code != 204 || len(cookies) != 1 || cookies[0].Value != "" || cookies[0].MaxAge >= 0 {
		t.Errorf("got %d, cookies %v", response.Code, cookies)
	}
}

// A page of another site makes a visitor's browser send a request with the visitor's cookie.
func TestForeignPagesChangeNothing(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Origins.Allowed = []string{"https://partner.example"} })
	cookies := jar(r.logIn())
	post := func(changes ...with) int {
		return r.call("POST", "/api/rooms", `{"name":"a"}`, changes...).Code
	}
	for name, tt := range map[string]struct {
		changes []with
		want    int
	}{
		"cookie from this site":         {[]with{cookies, header("Origin", ownOrigin)}, 201},
		"cookie from an allowed site":   {[]with{cookies, header("Origin", "https://partner.example")}, 201},
		"cookie from another site":      {[]with{cookies, header("Origin", "https://evil.example")}, 403},
		"cookie from a sandboxed frame": {[]with{cookies, header("Origin", "null")}, 403},
		"cookie without an origin":      {[]with{cookies}, 401},
		"token without an origin":       {[]with{asHost}, 201},
		"token from another site":       {[]with{asHost, header("Origin", "https://evil.example")}, 403},
		"token of nobody, own cookie":   {[]with{cookies, header("Origin", ownOrigin), header("Authorization", "Bearer x")}, 401},
	} {
		before := r.books.changed
		if got := post(tt.changes...); got != tt.want {
			t.Errorf("%s: got %d, want %d", name, got, tt.want)
		}
		if changed := r.books.changed > before; changed != (tt.want == 201) {
			t.Errorf("%s: changed: %v", name, changed)
		}
	}
	if got := r.call("GET", "/api/rooms", "", cookies).Code; got != 200 {
		t.Errorf("reading by cookie, for which browsers send no origin: got %d", got)
	}
	wantRefused(t, r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"a"}`, header("Origin", "https://evil.example")), 403, "origin_refused")
}

func TestAPlayersCookieIsForOneRoom(t *testing.T) {
	r := newRig(t)
	token, err := r.server.Sessions.NewPlayer("NRNE22", playerA)
	if err != nil {
		t.Fatal(err)
	}
	stolen := jar([]*http.Cookie{{Name: PlayerCookie(code), Value: token}})
	wantRefused(t, r.call("GET", "/api/rooms/RAXN88/players/me", "", stolen), 401, "unauthorized")
	wantRefused(t, r.call("GET", "/api/rounds/"+roundA+"/claims/me", "", stolen), 401, "unauthorized")
}

func from(address string) with {
	return func(_ *rig, q *http.Request) { q.RemoteAddr = address }
}

func TestPasswordsCannotBeTriedOnAndOn(t *testing.T) {
	r := newRig(t)
	try := func(guess, address string) int {
		return r.call("POST", "/api/host/session", `{"password":"`+guess+`"}`, from(address)).Code
	}
	for i := range passwordBurst {
		if got := try("guess", "203.0.113.7:1000"); got != 401 {
			t.Fatalf("guess %d: got %d", i+1, got)
		}
	}
	if got := try(password, "203.0.113.7:2000"); got != 429 {
		t.Errorf("the right one after %d wrong ones: got %d, want 429", passwordBurst, got)
	}
	if got := try(password, "203.0.113.8:1000"); got != 200 {
		t.Errorf("somebody else: got %d, want 200", got)
	}
	r.clock.pass(5 * time.Second)
	if got := try(password, "203.0.113.7:1000"); got != 200 {
		t.Errorf("5 s later: got %d, want 200", got)
	}
	wantRefused(t, r.call("POST", "/api/host/session", `{"password":"x"}`, from("203.0.113.7:1000")), 429, "too_many_requests")
}

func TestOneIPv6NetworkIsOneClient(t *testing.T) {
	r := newRig(t)
	for range passwordBurst {
		r.call("POST", "/api/host/session", `{"password":"x"}`, from("[2001:db8:0:1::7]:1000"))
	}
	if got := r.call("POST", "/api/host/session", `{"password":"x"}`, from("[2001:db8:0:1:ffff::9]:1000")).Code; got != 429 {
		t.Errorf("another address of the same /64: got %d, want 429", got)
	}
	if got := r.call("POST", "/api/host/session", `{"password":"x"}`, from("[2001:db8:0:2::7]:1000")).Code; got != 401 {
		t.Errorf("another /64: got %d, want 401", got)
	}
}

// 300 colleagues scan the code at once from behind one address, and nobody is turned away.
func TestACompanyJoinsFromOneAddress(t *testing.T) {
	r := newRig(t)
	join := func() int { return r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"a"}`).Code }
	for i := range joinBurst {
		if got := join(); got != 201 {
			t.Fatalf("player %d: got %d", i+1, got)
		}
	}
	if got := join(); got != 429 {
		t.Errorf("the next one at the same moment: got %d, want 429", got)
	}
	r.clock.pass(time.Second)
	for i := range joinRate {
		if got := join(); got != 201 {
			t.Fatalf("player %d of the next second: got %d", i+1, got)
		}
	}
}

func TestSamePassword(t *testing.T) {
	for guess, want := range map[string]bool{
		password: true, "": false, password + " ": false, strings.ToUpper(password): false, password[:5]: false,
	} {
		if samePassword(guess, password) != want {
			t.Errorf("%q: got %v", guess, !want)
		}
	}
}
