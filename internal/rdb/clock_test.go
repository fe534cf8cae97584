package rdb

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"redrain/internal/game"
)

// stoppedClock is one whose local time stands still.
func stoppedClock(at time.Time) *Clock {
	c := NewClock()
	c.local = func() time.Time { return at }
	return c
}

// heard lets an answer of a Redis that is ahead arrive at the given local time, which was asked for a round trip before.
func (c *Clock) heard(received time.Time, roundTrip, ahead time.Duration) {
	c.observe(received.Add(-roundTrip), received, received.Add(ahead-roundTrip/2).UnixMilli())
}

var noon = time.UnixMilli(1_700_000_000_000)

func (c *Clock) wantOffset(t *testing.T, want time.Duration) {
	t.Helper()
	got := time.Duration(c.Now()-game.Moment(c.local().UnixMilli())) * time.Millisecond
	if off := got - want; off.Abs() > 2*time.Millisecond {
		t.Errorf("Redis is %v ahead by the clock, want %v", got, want)
	}
}

func TestClockAgreesWithThisMachineUntilItHears(t *testing.T) {
	if c := stoppedClock(noon); c.Now() != game.Moment(noon.UnixMilli()) {
		t.Errorf("now is %d", c.Now())
	}
}

func TestClockTakesTheMiddleOfTheRoundTrip(t *testing.T) {
	c := stoppedClock(noon)
	c.observe(noon.Add(-200*time.Millisecond), noon, noon.Add(10*time.Minute).UnixMilli())
	c.wantOffset(t, 10*time.Minute+100*time.Millisecond)
	if c.Spread() != 101 {
		t.Errorf("spread is %d ms", c.Spread())
	}
}

func TestClockBelievesTheFastestAnswer(t *testing.T) {
	c := stoppedClock(noon)
	c.heard(noon, 100*time.Millisecond, time.Second)
	c.heard(noon.Add(time.Second), 10*time.Millisecond, 2*time.Second)
	c.wantOffset(t, 2*time.Second)
	c.heard(noon.Add(2*time.Second), 50*time.Millisecond, 7*time.Second)
	c.wantOffset(t, 2*time.Second)
	if c.Spread() != 6 {
		t.Errorf("spread is %d ms", c.Spread())
	}
}

func TestClockForgetsAfterHalfAMinute(t *testing.T) {
	c := stoppedClock(noon)
	c.heard(noon, 2*time.Millisecond, time.Second)
	c.heard(noon.Add(29_999*time.Millisecond), 20*time.Millisecond, 10*time.Second)
	c.wantOffset(t, time.Second)
	c.heard(noon.Add(30*time.Second), 20*time.Millisecond, 10*time.Second)
	c.wantOffset(t, 10*time.Second)
	if c.Spread() != 11 {
		t.Errorf("spread is %d ms", c.Spread())
	}
}

// However slow and lopsided the way to Redis is, the clock is off by its spread at most: the gate relies on that.
func TestClockIsWithinItsSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ahead := time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(t, "ahead"))
		at := noon
		c := NewClock()
		for range rapid.IntRange(1, 10).Draw(t, "answers") {
			there := time.Duration(rapid.Int64Range(0, 5e8).Draw(t, "there"))
			back := time.Duration(rapid.Int64Range(0, 5e8).Draw(t, "back"))
			asked := at.Add(time.Duration(rapid.Int64Range(0, 2e10).Draw(t, "pause")))
			at = asked.Add(there + back)
			c.observe(asked, at, asked.Add(there+ahead).UnixMilli())
		}
		c.local = func() time.Time { return at }
		off := int64(c.Now()) - at.Add(ahead).UnixMilli()
		if off > c.Spread() || -off > c.Spread() {
			t.Fatalf("off by %d ms at a spread of %d ms", off, c.Spread())
		}
	})
}
