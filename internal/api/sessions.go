package api

import (
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// How long a session lasts. A player's outlives an event that spans days; a host's ends with the working day.
const (
	hostSession   = 12 * time.Hour
	playerSession = 7 * 24 * time.Hour
)

// clockLeeway is by how much clocks may differ, of instances among each other and of the host's own app: a token that is from
// the future by less, or over for less, is taken.
const clockLeeway = time.Minute

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

// errFromFuture is returned for a genuine token that was made later than now, by more than clocks may differ.
var errFromFuture = fmt.Errorf("a session from the future: the clocks of instances differ: %w", game.ErrBusy)

// Sessions makes and checks the tokens of hosts and players. They are signed, not stored: any instance with the same
// secret takes them. Safe for concurrent use.
type Sessions struct {
	secret  []byte
	now     func() time.Time
	hosts   parsers
	players parsers
}

// parsers check tokens of one audience: in full, and all but their times.
type parsers struct{ full, timeless *jwt.Parser }

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
		secret: secret, now: now, hosts: newParsers(audienceHost, now), players: newParsers(audiencePlay, now),
	}, nil
}

func newParsers(audience string, now func() time.Time) parsers {
	const always = 100 * 365 * 24 * time.Hour
	return parsers{newParser(audience, now, clockLeeway), newParser(audience, now, always)}
}

// newParser takes HS256 alone: a token must not choose how it is checked.
func newParser(audience string, now func() time.Time, leeway time.Duration) *jwt.Parser {
	return jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithIssuer(issuer),
		jwt.WithAudience(audience),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithTimeFunc(now),
		jwt.WithLeeway(leeway),
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

// Host checks a host's token; it returns ErrUnauthorized, wrapped, if it is none. game.ErrBusy as of Player.
func (s *Sessions) Host(token string) error {
	claims, err := s.read(s.hosts, token)
	if err == nil && claims.Subject != audienceHost {
		err = fmt.Errorf("%w: not a host", ErrUnauthorized)
	}
	return err
}

// Player returns the id of the player whose token for this room it is, or ErrUnauthorized, wrapped. game.ErrBusy: it is
// genuine and from the future by more than a minute, so this instance's clock is wrong, or that of the one that made it. It is
// no reason to take its player for a newcomer.
func (s *Sessions) Player(token, room string) (string, error) {
	claims, err := s.read(s.players, token)
	if err != nil {
		return "", err
	}
	return playerIn(claims, room)
}

// Known is Player whatever the times in the token say: it may be over, or not valid yet. It proves who somebody was, and is
// only for who asks for a new session.
func (s *Sessions) Known(token, room string) (string, error) {
	claims, err := s.parse(s.players.timeless, token)
	if err != nil {
		return "", err
	}
	return playerIn(claims, room)
}

func playerIn(claims *sessionClaims, room string) (string, error) {
	if room == "" || claims.Room != room {
		return "", fmt.Errorf("%w: for another room", ErrUnauthorized)
	}
	if !wire.IsUUID(claims.Subject) {
		return "", fmt.Errorf("%w: not a player", ErrUnauthorized)
	}
	return claims.Subject, nil
}

func (s *Sessions) read(by parsers, token string) (*sessionClaims, error) {
	claims, err := s.parse(by.full, token)
	if err == nil || errors.Is(err, jwt.ErrTokenExpired) {
		return claims, err
	}
	if _, genuine := s.parse(by.timeless, token); genuine == nil {
		return nil, errFromFuture
	}
	return nil, err
}

func (s *Sessions) parse(parser *jwt.Parser, token string) (*sessionClaims, error) {
	claims := new(sessionClaims)
	key := func(*jwt.Token) (any, error) { return s.secret, nil }
	if _, err := parser.ParseWithClaims(token, claims, key); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnauthorized, err)
	}
	return claims, nil
}
