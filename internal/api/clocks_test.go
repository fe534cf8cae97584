package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
)

func withBearerToken(token string) requestOption { return withHeader("Authorization", "Bearer "+token) }

// Joining with an expired session, or with one issued by an instance whose clock is ahead, must not create a second player.
func TestExpiredOrFutureSessionJoinsAsTheSamePlayer(t *testing.T) {
	const now = 1_800_000_000
	for name, change := range map[string]func(jwt.MapClaims){
		"good": keepClaims, "over": setClaim("exp", now-1000), "a second from the future": setClaim("iat", now+1), "from the future": setClaim("iat", now+3600), "not valid yet": setClaim("nbf", now+3600),
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestServer(t)
			r.store.rooms[0].Locked = true // to newcomers
			token := signModifiedToken(t, change, jwt.SigningMethodHS256, secret)
			response := r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"another"}`, withBearerToken(token))
			var joined joinedAnswer
			if err := json.Unmarshal(response.Body.Bytes(), &joined); err != nil || response.Code != 201 || joined.Player.ID != playerA {
				t.Fatalf("got %d %s", response.Code, response.Body)
			}
			if id, err := r.server.Sessions.Player(joined.Token, code); err != nil || id != playerA {
				t.Errorf("the new session is for %q, %v", id, err)
			}
			cookies := response.Result().Cookies()
			if len(cookies) != 1 {
				t.Fatalf("got the cookies %v", cookies)
			}
			if id, err := r.server.Sessions.Player(cookies[0].Value, code); err != nil || id != playerA {
				t.Errorf("the new cookie is for %q, %v", id, err)
			}
			if r.store.changed > 0 {
				t.Error("a player was made")
			}
			wantRefused(t, r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":" "}`, withBearerToken(token)), 422, "name_blank")
		})
	}
}

// A player's page calls players/me to decide whether to show the nickname form. A session that is refused only because of its time
// must not lead to the form.
func TestSessionFromTheFutureIsAnsweredAsBusy(t *testing.T) {
	r := newTestServer(t)
	at := func(iat int) requestOption {
		return withBearerToken(signModifiedToken(t, setClaim("iat", iat), jwt.SigningMethodHS256, secret))
	}
	if response := r.call("GET", "/api/rooms/RAXN88/players/me", "", at(1_800_000_060)); response.Code != 200 {
		t.Errorf("a minute ahead: got %d %s", response.Code, response.Body)
	}
	for range 3 {
		wantRefused(t, r.call("GET", "/api/rooms/RAXN88/players/me", "", at(1_800_000_061)), 503, "busy")
	}
	if told := strings.Count(r.log.String(), "set the clocks of all instances"); told != 1 {
		t.Errorf("operators are told %d times in a minute", told)
	}
}

func TestForeignSessionJoinsAsANewPlayer(t *testing.T) {
	r := newTestServer(t)
	join := func(change func(jwt.MapClaims)) int {
		return r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"a"}`, withBearerToken(signModifiedToken(t, change, jwt.SigningMethodHS256, secret))).Code
	}
	for name, change := range map[string]func(jwt.MapClaims){
		"another room": setClaim("room", "NRNE22"), "a player whom the books do not know": setClaim("sub", newcomer),
	} {
		before := r.store.changed
		if got := join(change); got != 201 || r.store.changed != before+1 {
			t.Errorf("%s: got %d, and %d players were made", name, got, r.store.changed-before)
		}
	}
	for i := range r.store.players {
		r.store.players[i].Blocked = true
	}
	if got := join(keepClaims); got != 403 {
		t.Errorf("who is blocked joins again: %d", got)
	}
}

func TestClockOfTheHostsAppMayDifferByAMinute(t *testing.T) {
	r := newTestServer(t, func(o *Options) { o.PlayerSecret = playerSecret })
	now := int(r.clock.Now().Unix())
	for name, tt := range map[string]struct {
		claim string
		at    int
		want  int
	}{
		"over for less than a minute": {"exp", now - 59, 201}, "over for a minute": {"exp", now - 60, 401},
		"a minute from the future": {"nbf", now + 60, 201}, "more": {"nbf", now + 61, 401},
	} {
		claims := jwt.MapClaims{"sub": "emp-7", "name": "王芳", "exp": now + 3600}
		claims[tt.claim] = tt.at
		token := appToken(t, playerSecret, jwt.SigningMethodHS256, claims)
		if response := r.call("POST", "/api/rooms/RAXN88/players/token", `{"token":"`+token+`"}`); response.Code != tt.want {
			t.Errorf("%s: got %d %s", name, response.Code, response.Body)
		}
	}
}
