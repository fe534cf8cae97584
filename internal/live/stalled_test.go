package live

import (
	"fmt"
	"testing"
	"time"

	"redrain/internal/testkit"
)

// The connection of an instance's subscription stays open, and nothing comes any more. Its screen stood at what it had heard last,
// to the end of the round and beyond; now the connection is made anew.
func TestAScreenGoesOnAfterItsSubscriptionStalled(t *testing.T) {
	address := testkit.Redis(t).URL
	books := testkit.NewBooks(code)
	proxy := testkit.NewSwallowProxy(t, hostOf(t, address))
	stalled, other := newRedisInstance(t, "redis://"+proxy.Addr, books), newRedisInstance(t, address, books)
	screen := stalled.addScreen()
	round := other.startRound(books)
	shows := func(within time.Duration, want int) {
		t.Helper()
		testkit.Eventually(t, within, func() error {
			heard := tallies(t, screen)
			if len(heard) == 0 || heard[len(heard)-1].ClaimedPackets != want {
				return fmt.Errorf("the screen does not show %d claims", want)
			}
			return nil
		})
	}
	other.grab(round, 1, books.Join(code, "ann"))
	shows(10*time.Second, 1)
	proxy.Stall()
	other.grab(round, 1, books.Join(code, "bob"), books.Join(code, "cyd"))
	shows(7*time.Second, 3) // five until it is noticed, and two as ever
}
