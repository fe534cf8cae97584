package settle

import (
	"sync"
	"sync/atomic"
	"time"

	"redrain/internal/game"
)

// counts are this process' counters for operators.
type counts struct {
	claims, cents, redelivered, quarantined, deadLetters, alarms, lost, reclosed, repaired, unsettled, raining, frozen, expiring, lag atomic.Int64
}

// Counts are the totals since this process started, and the present Unsettled and Lag.
type Counts struct {
	Claims, Cents            int64 // booked
	Redelivered              int64 // claims that were booked before, with the same amount
	Quarantined, DeadLetters int64 // claims, and entries, that could not be booked
	Alarms                   int64 // rounds frozen by this process
	Lost                     int64 // those of the alarms for claims that Redis has lost
	Reclosed                 int64 // rounds whose close Redis had lost
	Repaired                 int64 // keys that Redis had lost and that were restored
	Unsettled                int64 // rounds
	Raining, Frozen          int64 // those of the unsettled rounds
	Expiring                 int64 // warnings that the keys of an unsettled round expire soon
	// Lag is how old the newest entry was when it was last booked, in ms by Redis' clock. While booking fails it is for how long it
	// has failed, if that is more.
	Lag int64
}

// Counts reads the numbers.
func (s *Settler) Counts() Counts {
	c := &s.counts
	return Counts{
		Claims: c.claims.Load(), Cents: c.cents.Load(), Redelivered: c.redelivered.Load(), Quarantined: c.quarantined.Load(),
		DeadLetters: c.deadLetters.Load(), Alarms: c.alarms.Load(), Lost: c.lost.Load(), Reclosed: c.reclosed.Load(), Repaired: c.repaired.Load(),
		Unsettled: c.unsettled.Load(), Raining: c.raining.Load(), Frozen: c.frozen.Load(), Expiring: c.expiring.Load(),
		Lag: max(c.lag.Load(), s.failing.longest().Milliseconds()),
	}
}

// recordUnsettled records which rounds are not settled.
func (c *counts) recordUnsettled(rounds []game.Round) {
	var raining, frozen int64
	for i := range rounds {
		if rounds[i].Phase == game.Raining {
			raining++
		}
		if rounds[i].Frozen {
			frozen++
		}
	}
	c.unsettled.Store(int64(len(rounds)))
	c.raining.Store(raining)
	c.frozen.Store(frozen)
}

// failureTimes records since when a task keeps failing, by the task's name. Safe for concurrent use.
type failureTimes struct {
	mu    sync.Mutex
	since map[string]time.Time
}

// record records the outcome of an attempt. The time of the first failure stays until the next success.
func (f *failureTimes) record(task string, failed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, known := f.since[task]
	switch {
	case !failed:
		delete(f.since, task)
	case !known && f.since == nil:
		f.since = map[string]time.Time{task: time.Now()}
	case !known:
		f.since[task] = time.Now()
	}
}

// longest is for how long the task that has failed longest has been failing.
func (f *failureTimes) longest() (longest time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, since := range f.since {
		longest = max(longest, time.Since(since))
	}
	return longest
}
