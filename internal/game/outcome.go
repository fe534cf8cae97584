package game

import (
	"fmt"
)

// Outcome is the result of a tap, as it is sent to the player.
type Outcome string

// The outcomes. Won and Duplicate carry cents; all others carry none.
const (
	Won         Outcome = "won"          // this tap took a packet
	Duplicate   Outcome = "duplicate"    // this player had won with this drop before: the first result again
	Capped      Outcome = "capped"       // the player has as many claims as the round allows
	Missed      Outcome = "missed"       // nothing is released right now, or the drop has left every screen; later drops may win
	SoldOut     Outcome = "sold_out"     // every packet of the round is taken
	Early       Outcome = "early"        // before starts_at
	Late        Outcome = "late"         // at or after ends_at, or the round is closed
	Bomb        Outcome = "bomb"         // the drop was a bomb
	UnknownDrop Outcome = "unknown_drop" // not in the schedule, or not falling yet
	Throttled   Outcome = "throttled"    // too many taps of this player, over all tabs, or a bomb holds them
	Frozen      Outcome = "frozen"       // an operator is looking at the round; nothing is granted
	Busy        Outcome = "busy"         // the result is not known; a later claim message overrides it
)

// Outcomes returns all outcomes.
func Outcomes() []Outcome {
	return []Outcome{Won, Duplicate, Capped, Missed, SoldOut, Early, Late, Bomb, UnknownDrop, Throttled, Frozen, Busy}
}

// DropID numbers the drops of a round from 1. It is a string in Redis and an integer on the wire.
type DropID int32

// Tap is one player's touch of one drop.
type Tap struct {
	Player string
	Drop   DropID
	Bomb   bool // the drop is a bomb
}

// Answer is the result of one tap. Cents and Number are those of the claim for Won and Duplicate, else 0.
type Answer struct {
	Outcome Outcome
	Cents   Cents
	Number  int
}

// Claim is a won grab. Number counts the claims of its round from 1, in the order in which Redis granted them.
type Claim struct {
	Player string
	Drop   DropID
	Cents  Cents
	Number int
}

// Total is a number of packets and the sum of their amounts. Which ones is said where it is used: those left in a round, those that
// were claimed, booked, or paid.
type Total struct {
	Packets int
	Cents   Cents
}

// Grabbed is the reply to one batch of taps: an answer for each tap in order, Redis' time of the call, and what was left
// after it.
type Grabbed struct {
	Now     Moment
	Left    Total
	Answers []Answer
}

// Rank is one line of the leaderboard: total descending, then the number of the claim that reached it, ascending.
type Rank struct {
	Player string
	Cents  Cents
	Number int
}

// Standing is a round as Redis holds it at one moment, for those who watch and play it.
type Standing struct {
	Round    string
	Phase    Phase
	Reason   CloseReason
	Frozen   bool
	StartsAt Moment
	EndsAt   Moment
	Now      Moment
	Left     Total
	// Top is the head of the board, best first; Latest the newest claims, newest first.
	Top    []Rank
	Latest []Claim
}

func (o Outcome) String() string { return string(o) }

// letters is the one-letter form in which grab.lua replies, one letter a tap.
var letters = map[byte]Outcome{
	'w': Won, 'd': Duplicate, 'c': Capped, 'm': Missed, 's': SoldOut, 'e': Early, 'l': Late, 'f': Frozen,
	'b': Bomb, 't': Throttled,
}

// OutcomeOfLetter translates the script's letter of an outcome.
func OutcomeOfLetter(letter byte) (Outcome, error) {
	if o, ok := letters[letter]; ok {
		return o, nil
	}
	return "", fmt.Errorf("no outcome has the letter %q", letter)
}

// AnswerHandler receives the answers to taps. HandleAnswer is called once for each tap, from another goroutine, and must not block.
type AnswerHandler interface {
	HandleAnswer(tap Tap, answer Answer)
}
