package game

// BookedClaim is a claim as the ledger tells of it. Subject is whom the host's own app calls the player; empty for those who
// came in by themselves.
type BookedClaim struct {
	Claim
	At       Moment
	Nickname string
	Subject  string
}

// RoundBooks is where a begun round's budget is: Booked for its players (PaidOut of it by now), Refunded to its host, and
// Held for what is still to come.
type RoundBooks struct {
	Round    Round
	Booked   Total
	Refunded Cents
	Held     Cents
	PaidOut  Cents
}

// StatementLine is one movement of a host's account: "escrow" when a round began, "refund" when it was settled. Cents are
// below 0 for what went out; Balance is what the account held after it.
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
