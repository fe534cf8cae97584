package api

import (
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"redrain/internal/wire"
)

// How long a session lasts. A player's outlives an event that spans days; a host's ends with the working day.
const (
	hostSession   = 12 * time.Hour
	playerSession = 7 * 24 * time.Hour
)

const (
	issuer       = "redrain"
	audienceHost = "host"
	audiencePlay = "player"
	minSecret    = 32 // bytes, what HS256 asks for
)

// HostCookie is the name of the cookie that holds a host's token.
const HostCookie = "redrain_host"

// PlayerCookie is the name of the cookie that holds a player's token for a room: somebody may play in several.
func PlayerCookie(room string) string { return "redrain_player_" + room }

// ErrUnauthorized is returned for a token that is missing, expired, forged, or for something else.
var ErrUnauthorized = errors.New("no valid session")

// Sessions makes and checks the tokens of hosts and players. They are signed, not stored: any instance with the same
// secret takes them. Safe for concurrent use.
type Sessions struct {
	secret  []byte
	now     func() time.Time
	hosts   *jwt.Parser
	players *jwt.Parser
}

// sessionClaims is what a token says. A player's token has the player's id as its subject and is good for one room.
type sessionClaims struct {
	jwt.RegisteredClaims

	Room string `json:"room,omitempty"`
}

// NewSessions signs with a secret of at least 32 bytes, by the given clock.
func NewSessions(secret []byte, now func() time.Time) (*Sessions, error) {
	if len(secret) < minSecret {
		return nil, fmt.Errorf("the session secret must have at least %d bytes", minSecret)
	}
	return &Sessions{
		secret: secret, now: now, hosts: newParser(audienceHost, now), players: newParser(audiencePlay, now),
	}, nil
}

// newParser takes HS256 alone: a token must not choose how it is checked.
func newParser(audience string, now func() time.Time) *jwt.Parser {
	return jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithIssuer(issuer),
		jwt.WithAudience(audience),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithTimeFunc(now),
		jwt.WithStrictDecoding(),
	)
}

// NewHost makes a token for a host, good for 12 hours.
func (s *Sessions) NewHost() (string, error) {
	return s.sign(audienceHost, audienceHost, "", hostSession)
}

// NewPlayer makes a token for a player in one room, good for 7 days.
func (s *Sessions) NewPlayer(room, player string) (string, error) {
	return s.sign(audiencePlay, player, room, playerSession)
}

func (s *Sessions) sign(audience, subject, room string, lasts time.Duration) (string, error) {
	now := s.now()
	claims := sessionClaims{Room: room, RegisteredClaims: jwt.RegisteredClaims{
		Issuer: issuer, Audience: jwt.ClaimStrings{audience}, Subject: subject,
		IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(lasts)),
	}}
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(s.secret)
	if err != nil {
		return "", fmt.Errorf("sign session: %w", err)
	}
	return token, nil
}

// Host checks a host's token; it returns ErrUnauthorized, wrapped, if it is none.
func (s *Sessions) Host(token string) error {
	claims, err := s.read(s.hosts, token)
	if err == nil && claims.Subject != audienceHost {
		err = fmt.Errorf("%w: not a host", ErrUnauthorized)
	}
	return err
}

// Player returns the id of the player whose token for this room it is, or ErrUnauthorized, wrapped.
func (s *Sessions) Player(token, room string) (string, error) {
	claims, err := s.read(s.players, token)
	if err != nil {
		return "", err
	}
	if room == "" || claims.Room != room {
		return "", fmt.Errorf("%w: for another room", ErrUnauthorized)
	}
	if !wire.IsUUID(claims.Subject) {
		return "", fmt.Errorf("%w: not a player", ErrUnauthorized)
	}
	return claims.Subject, nil
}

func (s *Sessions) read(parser *jwt.Parser, token string) (*sessionClaims, error) {
	claims := new(sessionClaims)
	key := func(*jwt.Token) (any, error) { return s.secret, nil }
	if _, err := parser.ParseWithClaims(token, claims, key); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnauthorized, err)
	}
	return claims, nil
}
