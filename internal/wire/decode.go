package wire

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"redrain/internal/game"
)

// What a client frame may hold, inclusive.
const (
	MaxFrame = 1024      // bytes of one frame
	MaxDrop  = 1_000_000 // of a tap
	MaxSent  = 1<<53 - 1 // of a ping: what a browser's numbers hold exactly
	uuidLen  = 36        // of a canonical UUID
	tapHead  = `{"type":"tap","round":"`
	tapDrop  = `","drop":`
	maxDigit = 7 // digits of MaxDrop
)

// Decode reads one client frame, strictly, and returns a Tap or a Ping, or a *BadFrame that says in one sentence what is
// wrong. It keeps no reference to the frame.
func Decode(frame []byte) (any, error) {
	if tap, ok := UsualTap(frame, ""); ok {
		return tap, nil
	}
	return decodeAny(frame)
}

// UsualTap reads a tap in exactly the byte layout that the pages send, which is nearly every frame of a storm; round is the
// one that it probably is for, and saves the allocation of its id. What UsualTap does not recognise is for Decode; what it
// takes Decode takes alike, which a fuzz test holds.
func UsualTap(frame []byte, round string) (Tap, bool) {
	const digitsAt = len(tapHead) + uuidLen + len(tapDrop)
	last := len(frame) - 1
	if last <= digitsAt || last > digitsAt+maxDigit || frame[last] != '}' ||
		string(frame[:len(tapHead)]) != tapHead ||
		string(frame[len(tapHead)+uuidLen:digitsAt]) != tapDrop ||
		!IsUUID(frame[len(tapHead):len(tapHead)+uuidLen]) {
		return Tap{}, false
	}
	drop, ok := plainNumber(frame[digitsAt:last])
	if !ok || drop > MaxDrop {
		return Tap{}, false
	}
	if id := frame[len(tapHead) : len(tapHead)+uuidLen]; string(id) != round {
		round = string(id)
	}
	return Tap{Round: round, Drop: game.DropID(drop)}, true
}

// plainNumber reads at most maxDigit decimal digits that do not start with a zero.
func plainNumber(digits []byte) (int32, bool) {
	if digits[0] == '0' {
		return 0, false
	}
	var n int32
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int32(c-'0')
	}
	return n, true
}

// IsUUID reports whether text is a UUID in its canonical form: 36 characters, lower case, hyphens in their places.
func IsUUID[Text string | []byte](text Text) bool {
	if len(text) != uuidLen {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// The frames as the strict decoder reads them: a pointer is a field that must be there.
type (
	anyFrame struct {
		Type *string `json:"type"`
	}
	tapFrame struct {
		Type  *string `json:"type"`
		Round *string `json:"round"`
		Drop  *int64  `json:"drop"`
	}
	pingFrame struct {
		Type *string `json:"type"`
		Sent *int64  `json:"sent"`
	}
)

func decodeAny(frame []byte) (any, error) {
	if len(frame) > MaxFrame {
		return nil, badFrame("", fmt.Sprintf("a frame has at most %d bytes", MaxFrame))
	}
	var head anyFrame
	if refused := unmarshal(frame, &head, ignoreUnknown); refused != nil {
		return nil, refused
	}
	switch *head.Type {
	case TypeTap:
		return decodeTap(frame)
	case TypePing:
		return decodePing(frame)
	default:
		return nil, badFrame("type", "unknown type "+quoted(*head.Type))
	}
}

func decodeTap(frame []byte) (any, error) {
	var tap tapFrame
	if refused := unmarshal(frame, &tap, refuseUnknown); refused != nil {
		return nil, refused
	}
	if !IsUUID(*tap.Round) {
		return nil, badFrame("round", "round must be a UUID in lower case")
	}
	if *tap.Drop < 1 || *tap.Drop > MaxDrop {
		return nil, badFrame("drop", fmt.Sprintf("drop must be between 1 and %d", MaxDrop))
	}
	return Tap{Round: *tap.Round, Drop: game.DropID(*tap.Drop)}, nil //nolint:gosec // checked above
}

func decodePing(frame []byte) (any, error) {
	var ping pingFrame
	if refused := unmarshal(frame, &ping, refuseUnknown); refused != nil {
		return nil, refused
	}
	if *ping.Sent < 0 || *ping.Sent > MaxSent {
		return nil, badFrame("sent", fmt.Sprintf("sent must be between 0 and %d", int64(MaxSent)))
	}
	return Ping{Sent: *ping.Sent}, nil
}

// BadFrame is refused JSON: a code for programs, the field at fault where there is one, and one sentence for people that
// names nothing of the server's inside.
type BadFrame struct {
	Code    string
	Field   string
	Message string
}

func (e *BadFrame) Error() string { return e.Message }

func badFrame(field, message string) *BadFrame {
	return &BadFrame{Code: CodeBadFrame, Field: field, Message: message}
}

// longestQuote is how much of a client's own words a message repeats, in bytes.
const longestQuote = 40

// quoted repeats a client's words in a message, shortened and with everything unprintable escaped.
func quoted(words string) string {
	if len(words) > longestQuote {
		cut := longestQuote
		for cut > 0 && !utf8.RuneStart(words[cut]) {
			cut--
		}
		words = words[:cut] + "…"
	}
	return strconv.Quote(words)
}
