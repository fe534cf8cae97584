package game

import (
	"strings"
)

// Entry is one entry of a round's outbox, the Redis stream from which claims are booked in the ledger. It has the claims of one
// batch, or the refund of the closed round. One that does not parse has neither, and Fault says why.
type Entry struct {
	ID     string // in the stream: MS-SEQ
	Raw    string // the entry as it came, in JSON
	At     Moment
	Claims []Claim
	Refund *Refund
	Fault  string
}

// Refund is the part of a closed round's budget that goes back to its host, with the claims that the ledger must hold before that.
type Refund struct {
	Reason  CloseReason
	At      Moment
	Claimed Total // claims and their sum
	Cents   Cents
}

// Booked is the result of booking a batch of entries.
type Booked struct {
	Claims      int // booked now
	Cents       Cents
	Redelivered int // claims that the ledger had already
	Quarantined int // claims that were not booked: nobody is credited unless the host has them replayed
	DeadLetters int // entries that do not parse
	// Alarm is set when an entry contradicts the ledger. The round is then frozen, and Frozen is the round as it is now.
	Alarm  string
	Frozen Round
}

// RefundStep is how far a round's refund is.
type RefundStep string

// The steps of a refund.
const (
	RefundUnknown  RefundStep = "unknown" // the round is open, or its refund has not come to the ledger yet
	RefundWaiting  RefundStep = "waiting" // the ledger does not hold all claims yet, or the round is frozen
	RefundApplied  RefundStep = "applied"
	RefundMismatch RefundStep = "torn" // it can never agree with the claims that the ledger holds
)

// Account is a begun round with what the ledger holds of it.
type Account struct {
	Round
	Booked           Total // claims in the ledger, and their sum
	Highest          int   // the greatest claim number that ever came, booked or not
	LossAcceptedUpTo int   // a host knows that Redis lost claims with numbers up to this one, and has released the round
	Quarantined      int   // claims in quarantine that were not booked since
	DeadLetters      int   // entries that did not parse and were not replayed since
	Refund           *Refund
	Refunded         bool // the refund is paid
	// Accepted is how much more the ledger holds than Redis, as a host accepted it by releasing the round; below 0 if it holds less.
	// It is 0 unless something went wrong.
	Accepted     Total
	KeysExpiring bool // the round's keys in Redis have their final time to live
}

// Watermark is a round as Redis holds it at one moment, with how far its outbox has been read and acknowledged.
type Watermark struct {
	Now    Moment
	Phase  Phase
	Frozen bool
	// FreezeVersion is that of the round when Redis was last told whether it is frozen.
	FreezeVersion int64
	Claimed       Total // claims granted and their sum
	Rest          Cents
	Refunded      Cents
	ExpiresAt     Moment
	// Last is the newest entry of the outbox, Delivered the newest one that was delivered to a settler, and FirstPending the oldest one
	// that was delivered and not acknowledged. All are stream ids, MS-SEQ; "0-0" stands for none. Pending counts those that were
	// delivered and not acknowledged.
	Last         string
	Delivered    string
	Pending      int
	FirstPending string
}

// Difference is one disagreement between books: the value named What should be Expected, but is Found.
type Difference struct {
	What     string `json:"what"`
	Expected int64  `json:"expected"`
	Found    int64  `json:"found"`
}

// Quarantined is a claim that could not be booked as it came, with the reason: "overdraw", the round's escrow does not cover it;
// "conflict", the ledger has another claim under its number, or of its player for its drop; "beyond", its number is above the
// round's packets. Replayed: it was booked since.
type Quarantined struct {
	Claim
	Reason   string
	Replayed bool
}

// DeadLetter is an entry of the outbox that does not parse, and why. Replayed: it was booked since.
type DeadLetter struct {
	Entry    string
	Raw      string
	Reason   string
	Replayed bool
}

// Drained reports that every claim that was granted has been read from the outbox, booked and acknowledged.
func (w Watermark) Drained() bool { return w.Delivered == w.Last && w.Pending == 0 }

// Passed reports that everything up to an earlier watermark's last entry has been booked and acknowledged.
func (w Watermark) Passed(earlier Watermark) bool {
	return !entryBefore(w.Delivered, earlier.Last) && (w.Pending == 0 || entryBefore(earlier.Last, w.FirstPending))
}

// entryBefore compares ids of a stream, MS-SEQ, whose parts are decimal numbers without leading zeros.
func entryBefore(a, b string) bool {
	aMS, aSeq, _ := strings.Cut(a, "-")
	bMS, bSeq, _ := strings.Cut(b, "-")
	if aMS != bMS {
		return numberBefore(aMS, bMS)
	}
	return numberBefore(aSeq, bSeq)
}

func numberBefore(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// Moved is the money that moved between a round's host and its escrow: In from the host, Back to the host.
type Moved struct{ In, Back Cents }

// BookedClaim is a claim as the ledger holds it. Subject is the player's id in the host's own app; empty for players who joined without
// that app.
type BookedClaim struct {
	Claim
	At       Moment
	Nickname string
	Subject  string
}

// RoundBooks says where a begun round's budget is: Booked for its players (PaidOut is the part of it that was paid out), Refunded to
// its host, or still Held in escrow.
type RoundBooks struct {
	Round    Round
	Booked   Total
	Refunded Cents
	Held     Cents
	PaidOut  Cents
}

// StatementLine is one movement of a host's account. Its Purpose is "escrow" when a round began, "refund" when it was settled. Cents
// is below 0 for money that left the account; Balance is that of the account after the movement.
type StatementLine struct {
	At      Moment
	Round   string
	Title   string
	Purpose string
	Cents   Cents
	Balance Cents
}

// RoomSum is where the budgets of all begun rounds of a room are, as in RoundBooks.
type RoomSum struct {
	Budget   Cents
	Booked   Total
	Refunded Cents
	Held     Cents
	PaidOut  Cents
}
