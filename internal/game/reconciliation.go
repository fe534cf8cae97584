package game

// Reconciliation compares a round in Redis with its books at one moment, for hosts and operators, who get it as JSON. Redis is null
// where it holds nothing of the round. InFlight: claims were on their way to the ledger all the time, so some things could not be
// compared.
type Reconciliation struct {
	Round       string       `json:"round"`
	Room        string       `json:"room"`
	Phase       Phase        `json:"phase"`
	Frozen      bool         `json:"frozen"`
	Agrees      bool         `json:"agrees"`
	InFlight    bool         `json:"in_flight"`
	BudgetCents Cents        `json:"budget_cents"`
	Redis       *RedisBooks  `json:"redis"`
	Ledger      LedgerBooks  `json:"ledger"`
	Differences []Difference `json:"differences"`
}

// RedisBooks is what a round has granted, as Redis knows.
type RedisBooks struct {
	Claims        int   `json:"claims"`
	ClaimedCents  Cents `json:"claimed_cents"`
	RestCents     Cents `json:"rest_cents"`
	RefundedCents Cents `json:"refunded_cents"`
}

// LedgerBooks is what the ledger holds of a round. Accepted is by how much it holds more than Redis with the host's
// knowledge; 0 but after faults.
type LedgerBooks struct {
	Claims         int   `json:"claims"`
	ClaimedCents   Cents `json:"claimed_cents"`
	EscrowCents    Cents `json:"escrow_cents"`
	RefundedCents  Cents `json:"refunded_cents"`
	Quarantined    int   `json:"quarantined"`
	DeadLetters    int   `json:"dead_letters"`
	AcceptedClaims int   `json:"accepted_claims"`
	AcceptedCents  Cents `json:"accepted_cents"`
}
