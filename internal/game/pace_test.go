package game

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// releasedExactly counts the packets k with (k − 1)·0.9·duration/packets ≤ elapsed, in rational numbers.
func releasedExactly(packets, durationMS, elapsedMS int64) int64 {
	if elapsedMS < 0 {
		return 0
	}
	between := big.NewRat(9*durationMS, 10*packets)
	last := new(big.Rat).Quo(new(big.Rat).SetInt64(elapsedMS), between)
	whole := new(big.Int).Quo(last.Num(), last.Denom())
	return min(whole.Int64()+1, packets)
}

func TestEvenPaceIsExactToTheMillisecond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := validSettings()
		s.Packets = rapid.OneOf(rapid.IntRange(1, 50), rapid.IntRange(1, MaxPackets)).Draw(t, "packets")
		ms := rapid.Int64Range(MinDuration.Milliseconds(), MaxDuration.Milliseconds()).Draw(t, "duration")
		s.Duration = time.Duration(ms) * time.Millisecond
		k := rapid.Int64Range(1, int64(s.Packets)).Draw(t, "k")
		due := (k - 1) * 9 * ms / (10 * int64(s.Packets))
		for _, elapsed := range []int64{due - 1, due, due + 1, -1, 0, ms - 1, ms, rapid.Int64Range(0, ms).Draw(t, "elapsed")} {
			if got, want := s.Released(elapsed), releasedExactly(int64(s.Packets), ms, elapsed); int64(got) != want {
				t.Fatalf("%d of %d packets in %d ms are out at %d ms, want %d", got, s.Packets, ms, elapsed, want)
			}
		}
	})
}

func TestPaceAtItsEnds(t *testing.T) {
	s := validSettings() // 20 packets in 30 s: one every 1.35 s
	for _, c := range []struct {
		pace      Pace
		elapsedMS int64
		want      int
	}{
		{PaceEven, -1, 0}, {PaceEven, 0, 1}, {PaceEven, 1349, 1}, {PaceEven, 1350, 2}, {PaceEven, 25_649, 19},
		{PaceEven, 25_650, 20}, {PaceEven, 27_000, 20}, {PaceEven, 30_000, 20}, {PaceEven, math.MaxInt64, 20},
		{PaceBurst, -1, 0}, {PaceBurst, 0, 20}, {PaceBurst, math.MaxInt64, 20},
	} {
		if s.Pace = c.pace; s.Released(c.elapsedMS) != c.want {
			t.Errorf("%s at %d ms: %d are out, want %d", c.pace, c.elapsedMS, s.Released(c.elapsedMS), c.want)
		}
	}
}
