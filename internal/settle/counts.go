package settle

import "sync/atomic"

// counts are this process' numbers for operators.
type counts struct {
	claims, cents, redelivered, quarantined, deadLetters, alarms, lost, unsettled, expiring, lag atomic.Int64
}

// Counts is what this process has settled since it began, and what it sees. Lag is how old the newest entry was when it was
// booked last, in ms by Redis' clock. Lost are those alarms that say that Redis lost claims.
type Counts struct {
	Claims, Cents, Redelivered, Quarantined, DeadLetters, Alarms, Lost, Unsettled, Expiring, Lag int64
}

// Counts reads the numbers.
func (s *Settler) Counts() Counts {
	c := &s.counts
	return Counts{
		Claims: c.claims.Load(), Cents: c.cents.Load(), Redelivered: c.redelivered.Load(), Quarantined: c.quarantined.Load(),
		DeadLetters: c.deadLetters.Load(), Alarms: c.alarms.Load(), Lost: c.lost.Load(), Unsettled: c.unsettled.Load(), Expiring: c.expiring.Load(),
		Lag: c.lag.Load(),
	}
}
