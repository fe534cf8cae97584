package settle_test

import (
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/settle"
	"redrain/internal/testkit"
)

// Redis falls silent in the middle of settlement, and then dies and comes back with everything it had acknowledged: nothing
// is booked twice, nothing is lost, and nobody takes it for a fault of the books.
func TestRedisIsAwayInTheMiddleOfSettlement(t *testing.T) {
	server := testkit.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
	h := newSQLiteHouse(t, server.URL)
	round := h.opened(5000)
	first, _ := h.settler(settle.Options{ClaimStaleAfter: 200 * time.Millisecond})
	second, _ := h.settler(settle.Options{ClaimStaleAfter: 200 * time.Millisecond})
	told := h.grabEach(round, 300)
	server.Freeze()
	time.Sleep(2500 * time.Millisecond) // longer than a call may take
	server.Thaw()
	told = append(told, h.grabEach(round, 300)...)
	server.Restart()
	told = append(told, h.grabEach(round, 300)...)
	h.close(round, game.Stopped)
	h.await(round, "settled", settled)
	h.wantTold(round, told)
	if alarms := first.Counts().Alarms + second.Counts().Alarms; alarms > 0 {
		t.Errorf("%d alarms", alarms)
	}
}
