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

// Payout is one message to the host's own balance system about claims of one settled round: those with numbers from Number to Last.
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
	// Claims are filled in when the payout was leased to be sent; Holder is then the lease.
	Claims []BookedClaim
	Holder string
}

// ID is the same for every attempt, and for no other payout.
func (p Payout) ID() string { return "payout_" + p.Round + "_" + strconv.Itoa(p.Number) }

// PayoutSums are the totals of a round's claims by the state of their payouts. Planned is false if they are not to be paid out: then all
// of them stay in the players' balances, and nothing is pending.
type PayoutSums struct {
	Planned               bool
	Pending, Paid, Failed Total
}
