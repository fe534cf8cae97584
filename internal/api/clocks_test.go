package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
)

func bearer(token string) with { return header("Authorization", "Bearer "+token) }

// A session that is over, or that an instance with another clock made, is still somebody's: who joins with it stays the player
// that they are.
func TestNobodyBecomesASecondPlayerByTheClock(t *testing.T) {
	const now = 1_800_000_000
	for name, change := range map[string]func(jwt.MapClaims){
		"good": keep, "over": set("exp", now-1000), "a second from the future": set("iat", now+1), "from the future": set("iat", now+3600), "not valid yet": set("nbf", now+3600),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.books.rooms[0].Locked = true // to newcomers
			token := forged(t, change, jwt.SigningMethodHS256, secret)
			response := r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"another"}`, bearer(token))
			var joined joinedAnswer
			if err := json.Unmarshal(response.Body.Bytes(), &joined); err != nil || response.Code != 201 || joined.Player.ID != playerA {
				t.Fatalf("got %d %s", response.Code, response.Body)
			}
			if id, err := r.server.Sessions.Player(joined.Token, code); err != nil || id != playerA {
				t.Errorf("the new session is for %q, %v", id, err)
			}
			if cookies := response.Result().Cookies(); len(cookies) != 1 || cookies[0].Value != joined.Token {
				t.Errorf("got the cookies %v", cookies)
			}
			if r.books.changed > 0 {
				t.Error("a player was made")
			}
			wantRefused(t, r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":" "}`, bearer(token)), 422, "name_blank")
		})
	}
}

// A player's page asks players/me whether to ask for a nickname. A session that is refused for its time alone is no reason to.
func TestASessionFromTheFutureIsNotRefusedAsNone(t *testing.T) {
	r := newRig(t)
	at := func(iat int) with { return bearer(forged(t, set("iat", iat), jwt.SigningMethodHS256, secret)) }
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

func TestASessionOfSomebodyElseJoinsNobody(t *testing.T) {
	r := newRig(t)
	join := func(change func(jwt.MapClaims)) int {
		return r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"a"}`, bearer(forged(t, change, jwt.SigningMethodHS256, secret))).Code
	}
	for name, change := range map[string]func(jwt.MapClaims){
		"another room": set("room", "NRNE22"), "a player whom the books do not know": set("sub", newcomer),
	} {
		before := r.books.changed
		if got := join(change); got != 201 || r.books.changed != before+1 {
			t.Errorf("%s: got %d, and %d players were made", name, got, r.books.changed-before)
		}
	}
	for i := range r.books.players {
		r.books.players[i].Blocked = true
	}
	if got := join(keep); got != 403 {
		t.Errorf("who is blocked joins again: %d", got)
	}
}

func TestTheClockOfTheHostsOwnAppMayDifferByAMinute(t *testing.T) {
	r := newRig(t, func(o *Options) { o.PlayerSecret = playerSecret })
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
