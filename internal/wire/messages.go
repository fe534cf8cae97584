// Package wire holds the messages of the WebSocket protocol and the JSON forms that it shares with the HTTP API.
// protocol.md beside this file documents each by example; the examples in fixtures/ are read by the tests here and by the
// tests of the browser code. Money is in cents, moments are milliseconds since 1970 by Redis' clock.
package wire

import "redrain/internal/game"

// Round is a round as everybody may see it. Secret is empty before the round is settled; Algorithm
// (game.Algorithm) is 0 and Commitment empty in a draft. Hold is why it is frozen, empty while
// it is not, or while that is not known yet.
type Round struct {
	ID        string            `json:"id"`
	Room      string            `json:"room"`
	Phase     game.Phase        `json:"phase"`
	Reason    game.CloseReason  `json:"reason"`
	Frozen    bool              `json:"frozen"`
	Hold      game.FreezeReason `json:"hold"`
	Rehearsal bool              `json:"rehearsal"`
	game.Settings
	Place      int64           `json:"place"`
	StartsOn   game.Moment     `json:"starts_on"`
	MissedOn   game.Moment     `json:"missed_on"`
	MissReason game.MissReason `json:"miss_reason"`
	StartsAt   game.Moment     `json:"starts_at"`
	EndsAt     game.Moment     `json:"ends_at"`
	Algorithm  int             `json:"algorithm"`
	Commitment string          `json:"commitment"`
	Secret     string          `json:"secret"`
}

// Room is a room as everybody may see it.
type Room struct {
	Code string `json:"code"`
	Name string `json:"name"`
}

// You says who the server takes a connection for. Player and Nickname are empty for hosts and screens.
type You struct {
	Role     Role   `json:"role"`
	Player   string `json:"player"`
	Nickname string `json:"nickname"`
}

// Role is what a connection is for.
type Role string

// The roles.
const (
	RolePlayer Role = "player"
	RoleHost   Role = "host"
	RoleScreen Role = "screen"
)

// Claim is a won grab. Nickname is filled in tallies and lists; a player's own claims leave it empty.
type Claim struct {
	Round    string      `json:"round"`
	Number   int         `json:"number"`
	Player   string      `json:"player"`
	Nickname string      `json:"nickname"`
	Drop     game.DropID `json:"drop"`
	Cents    game.Cents  `json:"cents"`
}

// Rank is one line of the leaderboard.
type Rank struct {
	Rank     int        `json:"rank"`
	Player   string     `json:"player"`
	Nickname string     `json:"nickname"`
	Cents    game.Cents `json:"cents"`
}

// Tally is the live totals and the leaderboard of a round, or of a room before its first (then Round is empty). A tally with
// a lower Epoch, or the same Epoch and a lower Serial, than one already seen is old and to be ignored. Arrivals are the players
// who came last and are still here, newest first, a dozen at most; empty while a round is active.
type Tally struct {
	Type           string      `json:"type"`
	Round          string      `json:"round"`
	Epoch          int64       `json:"epoch"`
	Serial         int64       `json:"serial"`
	At             game.Moment `json:"at"`
	Online         int         `json:"online"`
	Taps           int64       `json:"taps"`
	ClaimedPackets int         `json:"claimed_packets"`
	ClaimedCents   game.Cents  `json:"claimed_cents"`
	LeftPackets    int         `json:"left_packets"`
	LeftCents      game.Cents  `json:"left_cents"`
	Top            []Rank      `json:"top"`
	Winners        []Claim     `json:"winners"`
	Arrivals       []Arrival   `json:"arrivals"`
}

// Arrival is a player who is in the room.
type Arrival struct {
	Player   string `json:"player"`
	Nickname string `json:"nickname"`
}

// Drop is something that begins to fall at starts_at + at_ms. Lane goes from 0 (left edge) to 999 (right edge).
type Drop struct {
	Drop game.DropID   `json:"drop"`
	Kind game.DropKind `json:"kind"`
	AtMS int64         `json:"at_ms"`
	Lane int           `json:"lane"`
}

// Welcome is the first message on every connection: all that a page needs, after a reload or a reconnection too.
// Round is null when the room had none yet; else the active round, or the last one.
type Welcome struct {
	Type   string      `json:"type"`
	Now    game.Moment `json:"now"`
	You    You         `json:"you"`
	Room   Room        `json:"room"`
	Round  *Round      `json:"round"`
	Claims []Claim     `json:"claims"`
	Drops  []Drop      `json:"drops"`
	Tally  Tally       `json:"tally"`
}

// RoundChanged tells that the room's round is another one, or another phase.
type RoundChanged struct {
	Type  string `json:"type"`
	Round Round  `json:"round"`
}

// Drops is sent once a second, at least half a second ahead of their fall; a connection may get a drop twice.
type Drops struct {
	Type  string `json:"type"`
	Round string `json:"round"`
	Drops []Drop `json:"drops"`
}

// Result answers one tap of this connection. Cents and Number are the claim's for won and duplicate, else 0.
type Result struct {
	Type    string       `json:"type"`
	Round   string       `json:"round"`
	Drop    game.DropID  `json:"drop"`
	Outcome game.Outcome `json:"outcome"`
	Cents   game.Cents   `json:"cents"`
	Number  int          `json:"number"`
}

// ClaimMade tells a player of a claim of theirs that this connection did not hear of as a result: made in another tab, or
// behind a busy answer.
type ClaimMade struct {
	Type  string `json:"type"`
	Claim Claim  `json:"claim"`
}

// Notice is a sentence for people, by its code; pages have the words.
type Notice struct {
	Type string `json:"type"`
	Code string `json:"code"`
	Text string `json:"text"`
}

// Pong answers a ping with the client's own stamp and Redis' time, so that a page can follow the server's clock.
type Pong struct {
	Type string      `json:"type"`
	Sent int64       `json:"sent"`
	Now  game.Moment `json:"now"`
}

// Error refuses a frame that could not be taken; nothing was changed by it.
type Error struct {
	Type    string `json:"type"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Tap is a player's touch of a drop.
type Tap struct {
	Round string
	Drop  game.DropID
}

// Ping asks for a Pong. Sent is any integer of the client's, 0 to 2^53 − 1.
type Ping struct {
	Sent int64
}
