package settle

import (
	"sync"
	"sync/atomic"
	"time"
)

// counts are this process' numbers for operators.
type counts struct {
	claims, cents, redelivered, quarantined, deadLetters, alarms, lost, reclosed, repaired, unsettled, expiring, lag atomic.Int64
}

// Counts is what this process has settled since it began, and what it sees. Lag is how old the newest entry was when it was
// booked last, in ms by Redis' clock; while nothing can be booked it is for how long that has been so, if that is more. Lost are those alarms that say that Redis lost claims, Reclosed the rounds whose close it
// lost, Repaired the keys that it lost and that were made anew.
type Counts struct {
	Claims, Cents, Redelivered, Quarantined, DeadLetters, Alarms, Lost, Reclosed, Repaired, Unsettled, Expiring, Lag int64
}

// Counts reads the numbers.
func (s *Settler) Counts() Counts {
	c := &s.counts
	return Counts{
		Claims: c.claims.Load(), Cents: c.cents.Load(), Redelivered: c.redelivered.Load(), Quarantined: c.quarantined.Load(),
		DeadLetters: c.deadLetters.Load(), Alarms: c.alarms.Load(), Lost: c.lost.Load(), Reclosed: c.reclosed.Load(), Repaired: c.repaired.Load(),
		Unsettled: c.unsettled.Load(), Expiring: c.expiring.Load(),
		Lag: max(c.lag.Load(), s.failing.longest().Milliseconds()),
	}
}

// failures are since when something could not be done, by what it is for. Safe for concurrent use.
type failureTimes struct {
	mu    sync.Mutex
	since map[string]time.Time
}

// note takes note of how an attempt ended. The first failure counts until the next success.
func (f *failureTimes) record(what string, failed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, known := f.since[what]
	switch {
	case !failed:
		delete(f.since, what)
	case !known && f.since == nil:
		f.since = map[string]time.Time{what: time.Now()}
	case !known:
		f.since[what] = time.Now()
	}
}

// longest is for how long the oldest failure has gone on.
func (f *failureTimes) longest() (longest time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, since := range f.since {
		longest = max(longest, time.Since(since))
	}
	return longest
}
