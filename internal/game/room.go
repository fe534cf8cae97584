package game

import (
	"crypto/rand"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Room is where one audience plays. It has many rounds, of which at most one is active.
type Room struct {
	Code      string
	Name      string
	Locked    bool   // newcomers are refused
	AppOnly   bool   // newcomers need a token of the host's own app
	StageOf   string // the room whose rehearsals are played in this hidden one; empty for a room of people
	CreatedAt time.Time
}

// Player is somebody in a room. The id is a UUID.
type Player struct {
	ID       string
	Room     string
	Nickname string
	Blocked  bool   // may not join or tap any more
	Subject  string // the player's id in the host's own app; empty for players who joined without it
	JoinedAt time.Time
}

const (
	// codeLetters lack what people mistake for one another when they read a code aloud or off a wall.
	codeLetters = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
	codeLength  = 6
)

// NewCode makes a room's join code, from crypto/rand.
func NewCode() string {
	code := make([]byte, 0, codeLength)
	for len(code) < codeLength {
		var b [1]byte
		_, _ = rand.Read(b[:])                                 // never fails, says crypto/rand
		if int(b[0]) < 256/len(codeLetters)*len(codeLetters) { // else the first letters would come more often
			code = append(code, codeLetters[int(b[0])%len(codeLetters)])
		}
	}
	return string(code)
}

// CleanCode brings a typed code into its form: upper case, of usual width, without spaces, punctuation and what is not seen. False if it
// cannot be one.
func CleanCode(typed string) (string, bool) {
	code := strings.ToUpper(strings.Map(keepLettersAndDigits, norm.NFKC.String(typed)))
	if len(code) != codeLength || strings.Trim(code, codeLetters) != "" {
		return "", false
	}
	return code, true
}

func keepLettersAndDigits(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsNumber(r) {
		return r
	}
	return -1
}

// RoomSummary is what the list of rooms shows of one room.
type RoomSummary struct {
	Room    Room
	Players int    // all who ever joined
	Drafts  int    // rounds that were not begun yet
	Played  int    // rounds that are over
	Given   Cents  // what those gave away
	Active  string // the id of the active round, empty if there is none
}

// PlayedRound is a round in a player's history: how many packets the player won in it, and their sum.
type PlayedRound struct {
	Round   Round
	Packets int
	Cents   Cents
}

// Report is what one instance knows of a room: players online there, taps that it counted in the round, who came last, and which
// players came and left. An instance reports a dozen arrivals at most, and none while a round is active.
type Report struct {
	Round    string
	Online   int
	Taps     int64
	Arrivals []Arrival
	Changes  Changes
}

// Arrival is a player who is in a room, and since when.
type Arrival struct {
	Player string
	At     Moment
}

// Reports is what all instances know of a room together. Epoch is above 0 for the instance that holds the room's lease, and
// grows with every holder; to others only Now and Mark are told. Online counts each player once. Arrivals are those of all
// instances, in no order.
type Reports struct {
	Now      Moment
	Epoch    int64
	Online   int
	Taps     int64
	Arrivals []Arrival
	Mark     int64 // the instance's own, see Presence.Told
	Garbage  int   // marks of players which no instance has any more: they are to be swept
}

// Swept is what sweeping one page of a room's garbage came to. Cursor is "0" after the last page.
type Swept struct {
	Cursor  string
	Removed int
}
