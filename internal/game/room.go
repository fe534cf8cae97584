package game

import (
	"crypto/rand"
	"strings"
	"time"
)

// Room is one audience. It has many rounds, at most one of them active.
type Room struct {
	Code      string
	Name      string
	Locked    bool   // newcomers are refused
	AppOnly   bool   // newcomers need a token of the host's own app
	StageOf   string // the room whose rehearsals are played here, unseen; empty for a room of people
	CreatedAt time.Time
}

// Player is somebody in a room. The id is a UUID.
type Player struct {
	ID       string
	Room     string
	Nickname string
	Blocked  bool   // may not come in or tap any more
	Subject  string // whom the host's own app calls this; empty for who came in by themselves
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

// CleanCode brings a typed code into its form; false if it cannot be one.
func CleanCode(typed string) (string, bool) {
	code := strings.ToUpper(strings.TrimSpace(typed))
	if len(code) != codeLength || strings.Trim(code, codeLetters) != "" {
		return "", false
	}
	return code, true
}
