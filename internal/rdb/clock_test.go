package rdb

import (
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"redrain/internal/game"
)

// stoppedClock is one whose local time stands still.
func stoppedClock(at time.Time) *Clock {
	c := NewClock()
	c.local = func() time.Time { return at }
	return c
}

// observeReply has a reply arrive at the given local time, from a Redis that is ahead, to a call sent one round trip before.
func (c *Clock) observeReply(received time.Time, roundTrip, ahead time.Duration) {
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

func TestClockAgreesWithThisMachineBeforeTheFirstReply(t *testing.T) {
	t.Parallel()
	if c := stoppedClock(noon); c.Now() != game.Moment(noon.UnixMilli()) {
		t.Errorf("now is %d", c.Now())
	}
}

func TestClockTakesTheMiddleOfTheRoundTrip(t *testing.T) {
	t.Parallel()
	c := stoppedClock(noon)
	c.observe(noon.Add(-200*time.Millisecond), noon, noon.Add(10*time.Minute).UnixMilli())
	c.wantOffset(t, 10*time.Minute+100*time.Millisecond)
	if c.Spread() != 101 {
		t.Errorf("spread is %d ms", c.Spread())
	}
}

func TestClockUsesTheReplyWithTheShortestRoundTrip(t *testing.T) {
	t.Parallel()
	c := stoppedClock(noon)
	c.observeReply(noon, 100*time.Millisecond, time.Second)
	c.observeReply(noon.Add(time.Second), 10*time.Millisecond, 2*time.Second)
	c.wantOffset(t, 2*time.Second)
	c.observeReply(noon.Add(2*time.Second), 50*time.Millisecond, 2020*time.Millisecond)
	c.wantOffset(t, 2*time.Second)
	if c.Spread() != 6 {
		t.Errorf("spread is %d ms", c.Spread())
	}
}

func TestClockReplacesASampleAfterHalfAMinute(t *testing.T) {
	t.Parallel()
	c := stoppedClock(noon)
	c.observeReply(noon, 2*time.Millisecond, time.Second)
	c.observeReply(noon.Add(29_999*time.Millisecond), 20*time.Millisecond, 1100*time.Millisecond)
	c.wantOffset(t, time.Second)
	c.observeReply(noon.Add(30*time.Second), 20*time.Millisecond, 1100*time.Millisecond)
	c.wantOffset(t, 1100*time.Millisecond)
	if c.Spread() != 11 {
		t.Errorf("spread is %d ms", c.Spread())
	}
}

// However slow and asymmetric the connection to Redis is, the clock is off by its spread at most; package gate relies on that.
func TestClockIsWithinItsSpread(t *testing.T) {
	t.Parallel()
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

// machine is a local clock whose wall clock and monotonic clock go apart.
type machine struct{ now time.Time }

func (m *machine) read() time.Time { return m.now }

// pass lets time pass on both.
func (m *machine) pass(d time.Duration) { m.now = m.now.Add(d) }

// step sets the wall clock alone, as an administrator or NTP does. A time.Time that carries a monotonic reading has the
// seconds of its wall clock in the bits from 30 up of its first word, and there is no other way to change those alone.
func (m *machine) step(t *testing.T, d time.Duration) {
	t.Helper()
	before := m.now
	*(*uint64)(unsafe.Pointer(&m.now)) += uint64(int64(d/time.Second)) << 30 //nolint:gosec // see above; it wraps for steps back
	if m.now.Sub(before) != 0 || m.now.Round(0).Sub(before.Round(0)) != d {
		t.Fatalf("the wall clock was not stepped alone: %v, then %v", before, m.now)
	}
}

// Only the monotonic clock counts. Otherwise a step of one instance's wall clock would make its players' taps early or late for up to
// half a minute.
func TestClockDoesNotFollowAStepOfTheWallClock(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{-5 * time.Second, 5 * time.Second, -10 * time.Minute, 10 * time.Minute} {
		t.Run(step.String(), func(t *testing.T) {
			m := &machine{time.Now()}
			c := NewClock()
			c.local = m.read
			start := m.now.Round(0)
			c.observeReply(m.now, 2*time.Millisecond, time.Minute)
			want := func(after time.Duration) {
				t.Helper()
				if off := int64(c.Now()) - start.Add(time.Minute+after).UnixMilli(); off < -2 || off > 2 {
					t.Errorf("the clock is %d ms off", off)
				}
			}
			want(0)
			m.pass(time.Second)
			m.step(t, step)
			want(time.Second)
			m.pass(time.Second)
			c.observe(m.now.Add(-10*time.Millisecond), m.now, start.Add(time.Minute+2*time.Second-5*time.Millisecond).UnixMilli())
			want(2 * time.Second)
			m.step(t, -step)
			want(2 * time.Second)
		})
	}
}

// Redis' clock was set, a node with another clock took over, or this machine was suspended: the next reply shows it, and is
// used although its round trip was longer.
func TestClockFollowsAStepOfRedisAtOnce(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{-time.Minute, -time.Second, time.Second, time.Minute} {
		c := stoppedClock(noon)
		c.observeReply(noon, 2*time.Millisecond, time.Second)
		c.observeReply(noon, 40*time.Millisecond, time.Second+step)
		c.wantOffset(t, time.Second+step)
	}
}
