package live

import (
	"testing"
	"testing/synctest"
	"time"
)

// A storm of nudges made the holder of the lease publish with each.
func TestNudgesDoNotMakeTalliesFaster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		seat, tab := r.sit(r.room, r.books.Join(code, "ann"))
		round := r.begin(plan())
		until(round.StartsAt + 1000)
		from := time.Now()
		for range 300 {
			seat.Tap(round.ID, 1, tab, &answers{}) // the number of taps changes
			r.room.nudge()
			time.Sleep(10 * time.Millisecond)
		}
		count := 0
		for _, tally := range r.world.tallied() {
			if tally.at.After(from) {
				count++
			}
		}
		if count < 8 || count > 13 {
			t.Errorf("%d tallies in three seconds, want at most four a second", count)
		}
	})
}
