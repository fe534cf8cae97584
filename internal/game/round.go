package game

import "time"

// Round is one rain: its settings and where it stands. StartsAt and EndsAt are 0 until it was opened in Redis; the round
// is open for taps in [StartsAt, EndsAt).
type Round struct {
	ID       string
	Room     string
	Settings Settings
	Phase    Phase
	Reason   CloseReason // of a closed round
	Frozen   bool
	// FreezeReason says why the round is frozen; empty while it is not.
	FreezeReason FreezeReason
	// FreezeVersion grows by one with every freeze and every release. Redis holds the version of its own flag, and takes over
	// only a newer one.
	FreezeVersion int64
	Rehearsal     bool
	Secret        Secret // made with the start; never shown before Settled
	// Algorithm is the number of the way in which the round is drawn and Commitment is made; 0 in a draft.
	Algorithm  int
	Commitment string
	StartsAt   Moment
	EndsAt     Moment
	CreatedAt  time.Time
	// Place orders the drafts of a room, ascending. A draft with StartsOn is started by itself at that moment; 0: by hand.
	Place    int64
	StartsOn Moment
	// Claimed is what a closed round gave away; of an open one Redis knows.
	Claimed Total
}

// FreezeReason is why a round grants, refunds and pays nothing for now, as hosts are told.
type FreezeReason string

// The reasons for a freeze.
const (
	FrozenByHost      FreezeReason = "host"         // a host asked for it
	FrozenKeysLost    FreezeReason = "keys_lost"    // Redis lost keys of the round, or holds some that do not fit together
	FrozenClaimsLost  FreezeReason = "claims_lost"  // Redis lost claims that had been granted
	FrozenBooksDiffer FreezeReason = "books_differ" // the ledger and Redis do not agree
)
