package game

// Phase is where a round stands. The order is draft → countdown → raining → closed → settled; frozen is a flag beside it.
type Phase string

// The phases, in their order.
const (
	Draft     Phase = "draft"     // set up, nothing held
	Countdown Phase = "countdown" // budget held, everybody sees the seconds
	Raining   Phase = "raining"   // open for taps
	Closed    Phase = "closed"    // no more grants; claims may still be on their way to the ledger
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

// Active reports whether the round holds its room: no other round of the room can start meanwhile.
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
