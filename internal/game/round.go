package game

import (
	"time"
)

// Round is one rain: its settings and its state. StartsAt and EndsAt are 0 until it was opened in Redis; the round
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
	// FreezeVersion grows by one with every freeze and every release. Redis stores it with its own copy of the flag, and accepts only
	// a newer version.
	FreezeVersion int64
	Rehearsal     bool
	Secret        Secret // made with the start; never shown before Settled
	// Algorithm is the version by which the round is drawn and Commitment is made; 0 in a draft.
	Algorithm  int
	Commitment string
	StartsAt   Moment
	EndsAt     Moment
	CreatedAt  time.Time
	// Place orders the drafts of a room, ascending. A draft starts automatically at StartsOn; 0: a host starts it.
	Place    int64
	StartsOn Moment
	// MissedOn is the planned start that a draft missed, and MissReason why; 0 and empty: none, or a host has planned it anew since.
	MissedOn   Moment
	MissReason MissReason
	// Claimed is what a closed round gave away. For an open round it is not kept here but in Redis.
	Claimed Total
}

// MissReason is why a draft did not start at the time that was planned.
type MissReason string

// The reasons for a missed start.
const (
	MissedRoomBusy   MissReason = "room_busy"   // another round of the room was active for too long
	MissedNotRunning MissReason = "not_running" // no server was up, or none reached the database
)

// FreezeReason is why a round is frozen: it grants, refunds and pays out nothing until a host releases it.
type FreezeReason string

// The reasons for a freeze.
const (
	FrozenByHost      FreezeReason = "host"         // a host asked for it
	FrozenKeysLost    FreezeReason = "keys_lost"    // Redis lost keys of the round, or holds some that do not fit together
	FrozenClaimsLost  FreezeReason = "claims_lost"  // Redis lost claims that had been granted
	FrozenBooksDiffer FreezeReason = "books_differ" // the ledger and Redis do not agree
)

// RehearsalState says how far a rehearsal is.
type RehearsalState string

// The states of a rehearsal.
const (
	RehearsalRunning RehearsalState = "running"
	RehearsalDone    RehearsalState = "done"
	RehearsalFailed  RehearsalState = "failed" // it could not be played to its end
)

// Rehearsal is a round played by bots in the hidden room (the stage) of a room. Report is JSON, nil until it is done.
type Rehearsal struct {
	Round   string // in the hidden room
	Room    string // that it is for
	Players int
	Rate    float64 // taps a second of each player
	State   RehearsalState
	Report  []byte
	Problem string // why it failed
	BegunAt time.Time
}

// Phase is the state of a round. The order is draft → countdown → raining → closed → settled; frozen is a flag beside it.
type Phase string

// The phases, in their order.
const (
	Draft     Phase = "draft"     // set up, no money in escrow
	Countdown Phase = "countdown" // the budget is in escrow, everybody sees the seconds
	Raining   Phase = "raining"   // open for taps
	Closed    Phase = "closed"    // no more grants; claims may still have to be booked in the ledger
	Settled   Phase = "settled"   // the ledger holds every claim and the refund
)

// CloseReason says why a round closed.
type CloseReason string

// The reasons for closing; Cancelled is a stop before the first drop.
const (
	ByTime      CloseReason = "time"
	BySoldOut   CloseReason = "sold_out"
	Stopped     CloseReason = "stopped"
	Cancelled   CloseReason = "cancelled"
	Interrupted CloseReason = "interrupted"
)

// next holds every step that a round can take.
var next = map[Phase][]Phase{
	Draft:     {Countdown},
	Countdown: {Raining, Closed},
	Raining:   {Closed},
	Closed:    {Settled},
}

// CanBecome reports whether a round may go from p to q in one step.
func (p Phase) CanBecome(q Phase) bool {
	for _, n := range next[p] {
		if n == q {
			return true
		}
	}
	return false
}

// Active reports whether the round occupies its room: no other round of the room can start meanwhile.
func (p Phase) Active() bool { return p == Countdown || p == Raining }

// Over reports whether the round can grant nothing any more. It never reverts.
func (p Phase) Over() bool { return p == Closed || p == Settled }

// Before lists the phases from which a round can go to p in one step.
func (p Phase) Before() []Phase {
	var from []Phase
	for _, q := range []Phase{Draft, Countdown, Raining, Closed} {
		if q.CanBecome(p) {
			from = append(from, q)
		}
	}
	return from
}

// PhaseAt is the phase of an opened round that nobody closed, by Redis' time now.
func PhaseAt(now, startsAt Moment) Phase {
	if now < startsAt {
		return Countdown
	}
	return Raining
}
