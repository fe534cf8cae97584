package settle_test

import (
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/settle"
	"redrain/internal/testkit"
)

// Redis stops answering during settlement, and later restarts with everything that it had acknowledged: nothing is booked twice,
// nothing is missing, and no alarm is raised.
func TestRedisIsAwayDuringSettlement(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
	h := newSQLiteEnv(t, server.URL)
	round := h.startRound(5000)
	first, _ := h.startSettler(settle.Options{ClaimStaleAfter: 200 * time.Millisecond})
	second, _ := h.startSettler(settle.Options{ClaimStaleAfter: 200 * time.Millisecond})
	told := h.grabEach(round, 300)
	server.Freeze()
	time.Sleep(2500 * time.Millisecond) // longer than a call may take
	server.Thaw()
	told = append(told, h.grabEach(round, 300)...)
	server.Restart()
	told = append(told, h.grabEach(round, 300)...)
	h.close(round, game.Stopped)
	h.awaitAccount(round, "settled", settled)
	h.wantBooked(round, told)
	if alarms := first.Counts().Alarms + second.Counts().Alarms; alarms > 0 {
		t.Errorf("%d alarms", alarms)
	}
}
