package api

import (
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"redrain/internal/game"
)

func testSessions(t *testing.T) (*Sessions, *clock) {
	t.Helper()
	c := &clock{now: time.Unix(1_800_000_000, 0)}
	sessions, err := NewSessions(secret, c.Now)
	if err != nil {
		t.Fatal(err)
	}
	return sessions, c
}

// forged makes a token with one thing changed, signed with the right secret unless a method and key are given.
func forged(t *testing.T, change func(jwt.MapClaims), method jwt.SigningMethod, key any) string {
	t.Helper()
	claims := jwt.MapClaims{
		"iss": issuer, "aud": audiencePlay, "sub": playerA, "room": code,
		"iat": 1_800_000_000, "exp": 1_800_000_000 + 3600,
	}
	change(claims)
	token, err := jwt.NewWithClaims(method, claims).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func set(name string, value any) func(jwt.MapClaims) {
	return func(c jwt.MapClaims) { c[name] = value }
}
func drop(name string) func(jwt.MapClaims) { return func(c jwt.MapClaims) { delete(c, name) } }
func keep(jwt.MapClaims)                   {}

func TestTokensThatAreNoPlayers(t *testing.T) {
	sessions, _ := testSessions(t)
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	good := forged(t, keep, jwt.SigningMethodHS256, secret)
	if id, err := sessions.Player(good, code); err != nil || id != playerA {
		t.Fatalf("the pattern of all forgeries is not good itself: %q, %v", id, err)
	}
	host, _ := sessions.NewHost()
	parts := strings.Split(good, ".")
	for name, token := range map[string]string{
		"nothing":                      "",
		"no token":                     "a.b.c",
		"unsigned":                     parts[0] + "." + parts[1] + ".",
		"another's payload":            parts[0] + "." + strings.Split(forged(t, set("sub", playerB), jwt.SigningMethodHS256, secret), ".")[1] + "." + parts[2],
		"another secret":               forged(t, keep, jwt.SigningMethodHS256, []byte(strings.Repeat("x", 32))),
		"alg none":                     forged(t, keep, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType),
		"alg HS512":                    forged(t, keep, jwt.SigningMethodHS512, secret),
		"alg RS256":                    forged(t, keep, jwt.SigningMethodRS256, private),
		"another issuer":               forged(t, set("iss", "else"), jwt.SigningMethodHS256, secret),
		"no issuer":                    forged(t, drop("iss"), jwt.SigningMethodHS256, secret),
		"expired a minute ago":         forged(t, set("exp", 1_799_999_940), jwt.SigningMethodHS256, secret),
		"never expires":                forged(t, drop("exp"), jwt.SigningMethodHS256, secret),
		"forged and made tomorrow":     forged(t, set("iat", 1_800_086_400), jwt.SigningMethodHS256, []byte(strings.Repeat("x", 32))),
		"for hosts":                    forged(t, set("aud", audienceHost), jwt.SigningMethodHS256, secret),
		"for nobody":                   forged(t, drop("aud"), jwt.SigningMethodHS256, secret),
		"another room":                 forged(t, set("room", "NRNE22"), jwt.SigningMethodHS256, secret),
		"no room":                      forged(t, drop("room"), jwt.SigningMethodHS256, secret),
		"no player":                    forged(t, drop("sub"), jwt.SigningMethodHS256, secret),
		"a player who is no UUID":      forged(t, set("sub", "host"), jwt.SigningMethodHS256, secret),
		"a host's":                     host,
		"an expiry that is no number":  forged(t, set("exp", "never"), jwt.SigningMethodHS256, secret),
		"a room that is not a text":    forged(t, set("room", 7), jwt.SigningMethodHS256, secret),
		"a good one with a tail of it": good + ".x",
	} {
		if id, err := sessions.Player(token, code); !errors.Is(err, ErrUnauthorized) || id != "" {
			t.Errorf("%s: taken for %q, %v", name, id, err)
		}
		if id, err := sessions.Known(token, code); (!errors.Is(err, ErrUnauthorized) || id != "") && name != "expired a minute ago" {
			t.Errorf("%s: known as %q, %v", name, id, err)
		}
		if err := sessions.Host(token); !errors.Is(err, ErrUnauthorized) && name != "a host's" {
			t.Errorf("%s: taken for a host, %v", name, err)
		}
	}
	roomless, _ := sessions.NewPlayer("", playerA)
	if _, err := sessions.Player(roomless, ""); !errors.Is(err, ErrUnauthorized) {
		t.Errorf("a token for no room opens no room: %v", err)
	}
}

func TestPlayersAreNoHosts(t *testing.T) {
	sessions, _ := testSessions(t)
	player, _ := sessions.NewPlayer(code, playerA)
	if err := sessions.Host(player); !errors.Is(err, ErrUnauthorized) {
		t.Errorf("a player's token is taken for a host's: %v", err)
	}
	if err := sessions.Host(forged(t, set("aud", audienceHost), jwt.SigningMethodHS256, secret)); !errors.Is(err, ErrUnauthorized) {
		t.Errorf("a host's token about a player is taken: %v", err)
	}
}

func TestSessionsEnd(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lasts time.Duration
		check func(*Sessions) func() error
	}{
		{"host", 12 * time.Hour, func(s *Sessions) func() error {
			token, _ := s.NewHost()
			return func() error { return s.Host(token) }
		}},
		{"player", 7 * 24 * time.Hour, func(s *Sessions) func() error {
			token, _ := s.NewPlayer(code, playerA)
			return func() error { _, err := s.Player(token, code); return err }
		}},
	} {
		sessions, clock := testSessions(t)
		check := tt.check(sessions)
		clock.pass(tt.lasts + clockLeeway - time.Second)
		if err := check(); err != nil {
			t.Errorf("%s: over a second too early: %v", tt.name, err)
		}
		clock.pass(time.Second)
		if err := check(); !errors.Is(err, ErrUnauthorized) {
			t.Errorf("%s: not over after %v: %v", tt.name, tt.lasts, err)
		}
	}
}

// A token that another instance made, whose clock is ahead: up to a minute it is taken, beyond that it is not refused as no
// session, which would make its player a newcomer.
func TestClocksMayDifferByAMinute(t *testing.T) {
	if clockLeeway < time.Minute {
		t.Errorf("clocks may differ by %v", clockLeeway)
	}
	sessions, _ := testSessions(t)
	const now = 1_800_000_000
	for name, change := range map[string]func(ahead int) func(jwt.MapClaims){
		"iat": func(ahead int) func(jwt.MapClaims) { return set("iat", now+ahead) },
		"nbf": func(ahead int) func(jwt.MapClaims) { return set("nbf", now+ahead) },
	} {
		if id, err := sessions.Player(forged(t, change(60), jwt.SigningMethodHS256, secret), code); err != nil || id != playerA {
			t.Errorf("%s: a minute ahead: %q, %v", name, id, err)
		}
		early := forged(t, change(61), jwt.SigningMethodHS256, secret)
		if _, err := sessions.Player(early, code); !errors.Is(err, game.ErrBusy) || errors.Is(err, ErrUnauthorized) {
			t.Errorf("%s: more than a minute ahead: %v", name, err)
		}
		if id, err := sessions.Known(early, code); err != nil || id != playerA {
			t.Errorf("%s: it does not say any more whose it is: %q, %v", name, id, err)
		}
	}
	for exp, want := range map[int]error{now - 59: nil, now - 60: ErrUnauthorized} {
		late := forged(t, set("exp", exp), jwt.SigningMethodHS256, secret)
		if _, err := sessions.Player(late, code); !errors.Is(err, want) {
			t.Errorf("over for %d s: %v, want %v", now-exp, err, want)
		}
		if id, err := sessions.Known(late, code); err != nil || id != playerA {
			t.Errorf("it does not say any more whose it was: %q, %v", id, err)
		}
	}
}

func TestShortSecretsAreRefused(t *testing.T) {
	if _, err := NewSessions(secret[:31], time.Now); err == nil {
		t.Error("31 bytes are taken")
	}
}
