package api

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// How long a session lasts. A player's is longer than an event of several days; a host's is a working day.
const (
	hostSessionLifetime   = 12 * time.Hour
	playerSessionLifetime = 7 * 24 * time.Hour
)

// clockLeeway is by how much the clocks of the instances, and that of the host's own app, may differ: a token that was issued less
// than this in the future, or expired less than this ago, is accepted.
const clockLeeway = time.Minute

const (
	issuer       = "redrain"
	audienceHost = "host"
	audiencePlay = "player"
	minSecret    = 32 // bytes, what HS256 asks for
)

// HostCookie is the name of the cookie that holds a host's token.
const HostCookie = "redrain_host"

// PlayerCookie is the name of the cookie that holds the token of a device's players. There is one for all rooms: browsers send every
// cookie with every request, and servers bound the size of headers.
const PlayerCookie = "redrain_player"

// maxCookieRooms bounds the rooms in a player's cookie, those that were joined last: browsers store 4 KB.
const maxCookieRooms = 80

// ErrUnauthorized is returned for a token that is missing, expired, forged, or issued for another purpose.
var ErrUnauthorized = errors.New("no valid session")

// errFromFuture is returned for a token with a valid signature that was issued more than clockLeeway in the future.
var errFromFuture = fmt.Errorf("a session from the future: the clocks of instances differ: %w", game.ErrBusy)

// Sessions issues and checks the session tokens of hosts and players. They are signed and not stored: any instance with the same
// secret accepts them. Only hosts' sessions that ended early are stored, see Share. Safe for concurrent use.
type Sessions struct {
	secret  []byte
	now     func() time.Time
	hosts   parsers
	players parsers
	books   SessionBooks // nil before Share

	mu         sync.Mutex
	credential credential
	ended      map[string]time.Time    // ids of hosts' sessions, and until when they must be known
	watches    map[*hostWatch]struct{} // what ends with a session
}

// parsers check the tokens of one audience: strict checks everything, timeless all but the times.
type parsers struct{ strict, timeless *jwt.Parser }

// sessionClaims are the JWT claims of a session. The subject of a player's token is the player's id; it is valid in one room. The token
// in a device's cookie names one player in each of several rooms instead. A host's token has an id, by which it can be ended, and the
// version of the password.
type sessionClaims struct {
	jwt.RegisteredClaims

	Room       string   `json:"room,omitempty"`
	Players    []string `json:"seats,omitempty"` // the name that cookies in use have
	Credential string   `json:"cred,omitempty"`
}

// NewSessions signs with a secret of at least 32 bytes, by the given clock. The password is the hosts'.
func NewSessions(secret []byte, password string, now func() time.Time) (*Sessions, error) {
	if len(secret) < minSecret {
		return nil, fmt.Errorf("the session secret must have at least %d bytes", minSecret)
	}
	if password == "" {
		return nil, errors.New("the hosts' password is empty")
	}
	s := &Sessions{
		secret: secret, now: now, hosts: newParsers(audienceHost, now), players: newParsers(audiencePlay, now),
		ended: make(map[string]time.Time), watches: make(map[*hostWatch]struct{}),
	}
	s.credential = credential{fingerprint: s.fingerprint(password), version: rand.Text()}
	return s, nil
}

func newParsers(audience string, now func() time.Time) parsers {
	const always = 100 * 365 * 24 * time.Hour
	return parsers{newParser(audience, now, clockLeeway), newParser(audience, now, always)}
}

// newParser returns a parser that accepts only HS256, so that a token cannot choose the algorithm that checks it.
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

// NewHostToken issues a token for a host, valid for 12 hours.
func (s *Sessions) NewHostToken() (string, error) {
	return s.sign(hostClaims(rand.Text(), s.currentCredential().version), hostSessionLifetime)
}

func hostClaims(id, credential string) sessionClaims {
	return sessionClaims{
		Credential:       credential,
		RegisteredClaims: jwt.RegisteredClaims{ID: id, Subject: audienceHost, Audience: jwt.ClaimStrings{audienceHost}},
	}
}

// NewPlayerToken issues a token for a player in one room, valid for 7 days.
func (s *Sessions) NewPlayerToken(room, player string) (string, error) {
	return s.sign(sessionClaims{
		Room: room, RegisteredClaims: jwt.RegisteredClaims{Subject: player, Audience: jwt.ClaimStrings{audiencePlay}},
	}, playerSessionLifetime)
}

func (s *Sessions) sign(claims sessionClaims, lasts time.Duration) (string, error) {
	now := s.now()
	claims.Issuer, claims.IssuedAt, claims.ExpiresAt = issuer, jwt.NewNumericDate(now), jwt.NewNumericDate(now.Add(lasts))
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(s.secret)
	if err != nil {
		return "", fmt.Errorf("sign session: %w", err)
	}
	return token, nil
}

// Host returns the session of a host's token. It returns ErrUnauthorized, wrapped, if it is not valid or has ended, and game.ErrBusy
// as Player does.
func (s *Sessions) Host(token string) (game.HostSession, error) {
	claims, err := s.parseExplained(s.hosts, token)
	if err != nil {
		return game.HostSession{}, err
	}
	if claims.Subject != audienceHost || claims.ID == "" {
		return game.HostSession{}, fmt.Errorf("%w: not a host", ErrUnauthorized)
	}
	session := game.HostSession{ID: claims.ID, Credential: claims.Credential, ExpiresAt: claims.ExpiresAt.Time}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkHost(session); err != nil {
		return game.HostSession{}, err
	}
	return session, nil
}

// Player returns the id of the player to whom a token for this room was issued, or ErrUnauthorized, wrapped. game.ErrBusy: the
// signature is valid, but the token was issued more than a minute in the future, so the clock of this instance or of the issuing
// one is wrong. The caller must not treat its player as a new one then.
func (s *Sessions) Player(token, room string) (string, error) {
	claims, err := s.parseExplained(s.players, token)
	if err != nil {
		return "", err
	}
	return checkPlayerClaims(claims, room)
}

// PlayerIgnoringTimes is Player without a check of the token's times: it may be expired, or issued in the future. It identifies a
// player who requests a new session, and must not be used for anything else.
func (s *Sessions) PlayerIgnoringTimes(token, room string) (string, error) {
	claims, err := s.parse(s.players.timeless, token)
	if err != nil {
		return "", err
	}
	return checkPlayerClaims(claims, room)
}

// NewPlayerCookie issues a token for a device that is a player in this room, and whoever it was in other rooms by the cookie that it
// held before, valid for 7 days.
func (s *Sessions) NewPlayerCookie(held, room, player string) (string, error) {
	entry, err := encodeRoomPlayer(room, player)
	if err != nil {
		return "", err
	}
	var entries []string
	if claims, err := s.parse(s.players.timeless, held); err == nil {
		entries = slices.DeleteFunc(claims.Players, func(entry string) bool { return strings.HasPrefix(entry, room+":") })
	}
	entries = append(entries, entry)
	return s.sign(sessionClaims{
		Players:          entries[max(0, len(entries)-maxCookieRooms):],
		RegisteredClaims: jwt.RegisteredClaims{Audience: jwt.ClaimStrings{audiencePlay}},
	}, playerSessionLifetime)
}

// encodeRoomPlayer returns how a device's cookie names its player in a room: CODE:ID, the id in base64.
func encodeRoomPlayer(room, player string) (string, error) {
	id, err := uuid.Parse(player)
	if err != nil {
		return "", fmt.Errorf("the id of a player: %w", err)
	}
	return room + ":" + base64.RawURLEncoding.EncodeToString(id[:]), nil
}

// playerIn returns the id of the device's player in a room; empty if there is none.
func (c *sessionClaims) playerIn(room string) string {
	for _, entry := range c.Players {
		if encoded, ok := strings.CutPrefix(entry, room+":"); ok {
			raw, _ := base64.RawURLEncoding.DecodeString(encoded)
			id, _ := uuid.FromBytes(raw)
			return id.String()
		}
	}
	return ""
}

func checkPlayerClaims(claims *sessionClaims, room string) (string, error) {
	player := claims.Subject
	if claims.Room != room {
		player = claims.playerIn(room)
	}
	if room == "" || player == "" {
		return "", fmt.Errorf("%w: for another room", ErrUnauthorized)
	}
	if !wire.IsUUID(player) {
		return "", fmt.Errorf("%w: not a player", ErrUnauthorized)
	}
	return player, nil
}

func (s *Sessions) parseExplained(by parsers, token string) (*sessionClaims, error) {
	claims, err := s.parse(by.strict, token)
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
