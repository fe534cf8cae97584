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

func testSessions(t *testing.T) (*Sessions, *fakeClock) {
	t.Helper()
	c := &fakeClock{now: time.Unix(1_800_000_000, 0)}
	sessions, err := NewSessions(secret, password, c.Now)
	if err != nil {
		t.Fatal(err)
	}
	return sessions, c
}

// signModifiedToken returns a token with one claim changed, signed with the right secret unless another method and key are given.
func signModifiedToken(t *testing.T, change func(jwt.MapClaims), method jwt.SigningMethod, key any) string {
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

func setClaim(name string, value any) func(jwt.MapClaims) {
	return func(c jwt.MapClaims) { c[name] = value }
}
func deleteClaim(name string) func(jwt.MapClaims) { return func(c jwt.MapClaims) { delete(c, name) } }
func keepClaims(jwt.MapClaims)                    {}

func TestInvalidPlayerTokensAreRefused(t *testing.T) {
	sessions, _ := testSessions(t)
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	good := signModifiedToken(t, keepClaims, jwt.SigningMethodHS256, secret)
	if id, err := sessions.Player(good, code); err != nil || id != playerA {
		t.Fatalf("the pattern of all forgeries is not good itself: %q, %v", id, err)
	}
	host, _ := sessions.NewHostToken()
	parts := strings.Split(good, ".")
	for name, token := range map[string]string{
		"nothing":                      "",
		"no token":                     "a.b.c",
		"unsigned":                     parts[0] + "." + parts[1] + ".",
		"another's payload":            parts[0] + "." + strings.Split(signModifiedToken(t, setClaim("sub", playerB), jwt.SigningMethodHS256, secret), ".")[1] + "." + parts[2],
		"another secret":               signModifiedToken(t, keepClaims, jwt.SigningMethodHS256, []byte(strings.Repeat("x", 32))),
		"alg none":                     signModifiedToken(t, keepClaims, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType),
		"alg HS512":                    signModifiedToken(t, keepClaims, jwt.SigningMethodHS512, secret),
		"alg RS256":                    signModifiedToken(t, keepClaims, jwt.SigningMethodRS256, private),
		"another issuer":               signModifiedToken(t, setClaim("iss", "else"), jwt.SigningMethodHS256, secret),
		"no issuer":                    signModifiedToken(t, deleteClaim("iss"), jwt.SigningMethodHS256, secret),
		"expired a minute ago":         signModifiedToken(t, setClaim("exp", 1_799_999_940), jwt.SigningMethodHS256, secret),
		"never expires":                signModifiedToken(t, deleteClaim("exp"), jwt.SigningMethodHS256, secret),
		"forged and made tomorrow":     signModifiedToken(t, setClaim("iat", 1_800_086_400), jwt.SigningMethodHS256, []byte(strings.Repeat("x", 32))),
		"for hosts":                    signModifiedToken(t, setClaim("aud", audienceHost), jwt.SigningMethodHS256, secret),
		"for nobody":                   signModifiedToken(t, deleteClaim("aud"), jwt.SigningMethodHS256, secret),
		"another room":                 signModifiedToken(t, setClaim("room", "NRNE22"), jwt.SigningMethodHS256, secret),
		"no room":                      signModifiedToken(t, deleteClaim("room"), jwt.SigningMethodHS256, secret),
		"no player":                    signModifiedToken(t, deleteClaim("sub"), jwt.SigningMethodHS256, secret),
		"a player who is no UUID":      signModifiedToken(t, setClaim("sub", "host"), jwt.SigningMethodHS256, secret),
		"a host's":                     host,
		"an expiry that is no number":  signModifiedToken(t, setClaim("exp", "never"), jwt.SigningMethodHS256, secret),
		"a room that is not a text":    signModifiedToken(t, setClaim("room", 7), jwt.SigningMethodHS256, secret),
		"a good one with a tail of it": good + ".x",
	} {
		if id, err := sessions.Player(token, code); !errors.Is(err, ErrUnauthorized) || id != "" {
			t.Errorf("%s: taken for %q, %v", name, id, err)
		}
		if id, err := sessions.PlayerIgnoringTimes(token, code); (!errors.Is(err, ErrUnauthorized) || id != "") && name != "expired a minute ago" {
			t.Errorf("%s: known as %q, %v", name, id, err)
		}
		if _, err := sessions.Host(token); !errors.Is(err, ErrUnauthorized) && name != "a host's" {
			t.Errorf("%s: taken for a host, %v", name, err)
		}
	}
	roomless, _ := sessions.NewPlayerToken("", playerA)
	if _, err := sessions.Player(roomless, ""); !errors.Is(err, ErrUnauthorized) {
		t.Errorf("a token for no room opens no room: %v", err)
	}
}

func TestPlayerTokenIsNoHostToken(t *testing.T) {
	sessions, _ := testSessions(t)
	player, _ := sessions.NewPlayerToken(code, playerA)
	if _, err := sessions.Host(player); !errors.Is(err, ErrUnauthorized) {
		t.Errorf("a player's token is taken for a host's: %v", err)
	}
	if _, err := sessions.Host(signModifiedToken(t, setClaim("aud", audienceHost), jwt.SigningMethodHS256, secret)); !errors.Is(err, ErrUnauthorized) {
		t.Errorf("a host's token about a player is taken: %v", err)
	}
}

func TestSessionsExpire(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lasts time.Duration
		check func(*Sessions) func() error
	}{
		{"host", 12 * time.Hour, func(s *Sessions) func() error {
			token, _ := s.NewHostToken()
			return func() error { _, err := s.Host(token); return err }
		}},
		{"player", 7 * 24 * time.Hour, func(s *Sessions) func() error {
			token, _ := s.NewPlayerToken(code, playerA)
			return func() error { _, err := s.Player(token, code); return err }
		}},
	} {
		sessions, clock := testSessions(t)
		check := tt.check(sessions)
		clock.advance(tt.lasts + clockLeeway - time.Second)
		if err := check(); err != nil {
			t.Errorf("%s: over a second too early: %v", tt.name, err)
		}
		clock.advance(time.Second)
		if err := check(); !errors.Is(err, ErrUnauthorized) {
			t.Errorf("%s: not over after %v: %v", tt.name, tt.lasts, err)
		}
	}
}

// A token of an instance whose clock is ahead is accepted up to a minute. Beyond that the answer is busy and not unauthorized, after
// which the player would join as a new one.
func TestClocksMayDifferByAMinute(t *testing.T) {
	if clockLeeway < time.Minute {
		t.Errorf("clocks may differ by %v", clockLeeway)
	}
	sessions, _ := testSessions(t)
	const now = 1_800_000_000
	for name, change := range map[string]func(ahead int) func(jwt.MapClaims){
		"iat": func(ahead int) func(jwt.MapClaims) { return setClaim("iat", now+ahead) },
		"nbf": func(ahead int) func(jwt.MapClaims) { return setClaim("nbf", now+ahead) },
	} {
		if id, err := sessions.Player(signModifiedToken(t, change(60), jwt.SigningMethodHS256, secret), code); err != nil || id != playerA {
			t.Errorf("%s: a minute ahead: %q, %v", name, id, err)
		}
		early := signModifiedToken(t, change(61), jwt.SigningMethodHS256, secret)
		if _, err := sessions.Player(early, code); !errors.Is(err, game.ErrBusy) || errors.Is(err, ErrUnauthorized) {
			t.Errorf("%s: more than a minute ahead: %v", name, err)
		}
		if id, err := sessions.PlayerIgnoringTimes(early, code); err != nil || id != playerA {
			t.Errorf("%s: it does not say any more whose it is: %q, %v", name, id, err)
		}
	}
	for exp, want := range map[int]error{now - 59: nil, now - 60: ErrUnauthorized} {
		late := signModifiedToken(t, setClaim("exp", exp), jwt.SigningMethodHS256, secret)
		if _, err := sessions.Player(late, code); !errors.Is(err, want) {
			t.Errorf("over for %d s: %v, want %v", now-exp, err, want)
		}
		if id, err := sessions.PlayerIgnoringTimes(late, code); err != nil || id != playerA {
			t.Errorf("it does not say any more whose it was: %q, %v", id, err)
		}
	}
}

func TestShortSecretsAreRefused(t *testing.T) {
	if _, err := NewSessions(secret[:31], password, time.Now); err == nil {
		t.Error("31 bytes are taken")
	}
}
