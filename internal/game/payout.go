package game

import "strconv"

// PayoutState says where a payout stands.
type PayoutState string

// The states of a payout. A failed one stays until the host has it sent again.
const (
	PayoutPending PayoutState = "pending"
	PayoutPaid    PayoutState = "paid"
	PayoutFailed  PayoutState = "failed"
)

// Payout tells the host's own balance system of won claims of one settled round: those with numbers from Number to Last.
type Payout struct {
	Round, Room string
	Number      int
	Last        int
	Total       Total // its claims and their sum
	State       PayoutState
	Attempts    int    // since it was made, or sent again by the host
	Problem     string // of the last attempt
	MadeAt      Moment
	TriedAt     Moment // for the first time of these attempts; 0: not yet
	DueAt       Moment // when it is sent next
	PaidAt      Moment // 0: not yet
	// Claims are there when it is to be sent; Holder is then who it was leased to.
	Claims []BookedClaim
	Holder string
}

// ID is the same for every attempt, and for no other payout.
func (p Payout) ID() string { return "payout_" + p.Round + "_" + strconv.Itoa(p.Number) }

// PayoutSums is what became of the claims of a round. Planned: they are to be paid out at all; else all of them are in the
// players' balances, and nothing is pending.
type PayoutSums struct {
	Planned               bool
	Pending, Paid, Failed Total
}
