package game

import "strings"

// Entry is one entry of a round's outbox, on its way to the ledger: claims of one batch, or the refund that closed the
// round. One that does not parse has neither, and Fault says why.
type Entry struct {
	ID     string // in the stream: MS-SEQ
	Raw    string // the entry as it came, in JSON
	At     Moment
	Claims []Claim
	Refund *Refund
	Fault  string
}

// Refund is what closing a round left for its host, with the claims that the ledger must hold before it is paid.
type Refund struct {
	Reason  CloseReason
	At      Moment
	Claimed Total // claims and their sum
	Cents   Cents
}

// Booked is what became of a batch of entries.
type Booked struct {
	Claims      int // booked now
	Cents       Cents
	Redelivered int // were there already, equal
	Quarantined int // put aside: nobody is credited until the host has them tried again
	DeadLetters int // entries that do not parse
	// Alarm is set when an entry says something else than the ledger. The round is frozen then.
	Alarm string
}

// RefundStep is how far a round's refund is.
type RefundStep string

// The steps of a refund.
const (
	RefundUnknown  RefundStep = "unknown" // the round is open, or its refund is on its way
	RefundWaiting  RefundStep = "waiting" // the ledger does not hold all claims yet, or the round is frozen
	RefundApplied  RefundStep = "applied"
	RefundMismatch RefundStep = "torn" // it can never agree with the claims that the ledger holds
)

// Account is what the ledger holds of a begun round, and where it stands.
type Account struct {
	Round
	Booked           Total // claims in the ledger, and their sum
	Highest          int   // the greatest claim number that ever came, whatever became of it
	LossAcceptedUpTo int   // the greatest number that Redis forgot with the host's knowledge
	Quarantined      int   // claims put aside and not booked since
	DeadLetters      int   // entries that did not parse and were not driven since
	Refund           *Refund
	Refunded         bool // the refund is paid
	// Accepted is by how much the ledger holds more than Redis, as the host released the round with; 0 but after faults.
	Accepted     Total
	KeysExpiring bool // Redis' keys have been given their last time to live
}

// Watermark is a round as Redis holds it at one moment, with how far its outbox has been taken.
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
	// Last is the newest entry of the outbox, Delivered the newest that a settler took, FirstPending the oldest that one
	// took and has not acknowledged; all MS-SEQ, "0-0" for none.
	Last         string
	Delivered    string
	Pending      int
	FirstPending string
}

// Difference is one way in which books do not agree: What should be Expected, and Found is in its place.
type Difference struct {
	What     string `json:"what"`
	Expected int64  `json:"expected"`
	Found    int64  `json:"found"`
}

// Quarantined is a claim that the ledger cannot hold as it came: its escrow does not cover it ("overdraw"), the ledger has
// another one in its place ("conflict"), or its number is above the round's packets ("beyond"). Replayed: it was booked since.
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

// Quiet reports that nothing is in flight: what was granted has been taken from the outbox, booked and acknowledged.
func (w Watermark) Quiet() bool { return w.Delivered == w.Last && w.Pending == 0 }

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

// Moved is what moved between a round's escrow and its host.
type Moved struct{ In, Back Cents }
