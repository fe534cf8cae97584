package wire

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"redrain/internal/game"
)

// The types of messages, from the client and from the server.
const (
	TypeTap     = "tap"
	TypePing    = "ping"
	TypeWelcome = "welcome"
	TypeRound   = "round"
	TypeDrops   = "drops"
	TypeResult  = "result"
	TypeClaim   = "claim"
	TypeTally   = "tally"
	TypeNotice  = "notice"
	TypePong    = "pong"
	TypeError   = "error"
)

// The codes of Error.
const (
	CodeBadFrame     = "bad_frame"
	CodeNotAPlayer   = "not_a_player"
	CodeUnknownRound = "unknown_round"
)

// Message is one of the server's messages. The set is closed: all of them are made of strings, integers and booleans,
// which cannot fail to encode.
type Message interface {
	// typed returns a copy whose type field is filled in, so that no caller can forget or mistake it.
	typed() any
}

func (m Welcome) typed() any      { m.Type, m.Tally.Type = TypeWelcome, TypeTally; return m }
func (m RoundChanged) typed() any { m.Type = TypeRound; return m }
func (m Drops) typed() any        { m.Type = TypeDrops; return m }
func (m Result) typed() any       { m.Type = TypeResult; return m }
func (m ClaimMade) typed() any    { m.Type = TypeClaim; return m }
func (m Tally) typed() any        { m.Type = TypeTally; return m }
func (m Notice) typed() any       { m.Type = TypeNotice; return m }
func (m Pong) typed() any         { m.Type = TypePong; return m }
func (m Error) typed() any        { m.Type = TypeError; return m }

// fault is sent in place of a message that does not encode, which no Message can cause.
const fault = `{"type":"error","code":"bad_frame","message":"the server could not write a message"}`

// Encode renders one message as the text of a frame, with its type filled in. Nil lists become [], invalid UTF-8 becomes
// U+FFFD. The slice is the caller's own; many receivers may share it as long as nobody writes to it.
func Encode(message Message) []byte {
	text, err := Marshal(message.typed())
	if err != nil {
		return []byte(fault)
	}
	return text
}

// Marshal renders the answer to an HTTP request the way frames are: nil lists become [], invalid UTF-8 becomes U+FFFD.
func Marshal(answer any) ([]byte, error) {
	return json.Marshal(answer, jsontext.AllowInvalidUTF8(true))
}

// AppendResult appends what Encode gives for r, without its allocations: there is one for every tap.
func AppendResult(dst []byte, r Result) []byte {
	dst = append(dst, `{"type":"result","round":`...)
	dst, _ = jsontext.AppendQuote(dst, r.Round) // the error only tells that invalid UTF-8 was replaced
	dst = append(dst, `,"drop":`...)
	dst = strconv.AppendInt(dst, int64(r.Drop), 10)
	dst = append(dst, `,"outcome":`...)
	dst, _ = jsontext.AppendQuote(dst, string(r.Outcome))
	dst = append(dst, `,"cents":`...)
	dst = strconv.AppendInt(dst, int64(r.Cents), 10)
	dst = append(dst, `,"number":`...)
	dst = strconv.AppendInt(dst, int64(r.Number), 10)
	return append(dst, '}')
}

// RoundOf is the public form of a round. The secret shows only once the round is settled: before, it predicts amounts.
func RoundOf(r game.Round) Round {
	public := Round{
		ID: r.ID, Room: r.Room, Phase: r.Phase, Reason: r.Reason, Frozen: r.Frozen, Rehearsal: r.Rehearsal, Settings: r.Settings,
		Place: r.Place, StartsOn: r.StartsOn, MissedOn: r.MissedOn, MissReason: r.MissReason, StartsAt: r.StartsAt, EndsAt: r.EndsAt, Algorithm: r.Algorithm, Commitment: r.Commitment,
	}
	if public.Tiers == nil {
		public.Tiers = []game.Tier{}
	}
	if r.Frozen {
		public.Hold = r.FreezeReason
	}
	if r.Phase == game.Settled {
		public.Secret = string(r.Secret)
	}
	return public
}

// RoomOf is the public form of a room.
func RoomOf(r game.Room) Room { return Room{Code: r.Code, Name: r.Name} }

// ClaimOf is the wire's form of a claim in this round. The nickname stays empty, as a player's own claims have it.
func ClaimOf(round string, c game.Claim) Claim {
	return Claim{Round: round, Number: c.Number, Player: c.Player, Drop: c.Drop, Cents: c.Cents}
}

// ClaimsOf is ClaimOf for a list; it never returns nil.
func ClaimsOf(round string, claims []game.Claim) []Claim {
	list := make([]Claim, len(claims))
	for i, claim := range claims {
		list[i] = ClaimOf(round, claim)
	}
	return list
}

// DropsOf is the wire's form of drops; it never returns nil.
func DropsOf(drops []game.Drop) []Drop {
	list := make([]Drop, len(drops))
	for i, drop := range drops {
		list[i] = Drop{Drop: drop.ID, Kind: drop.Kind, AtMS: drop.AtMS, Lane: drop.Lane}
	}
	return list
}
