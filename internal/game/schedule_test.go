package game

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestScheduleIsAsDocumented(t *testing.T) {
	s := validSettings()
	schedule := NewSchedule(s, knownSecret)
	want := []Drop{
		{1, KindPacket, 95, 106}, {2, KindPacket, 134, 34}, {3, KindPacket, 309, 750}, {4, KindPacket, 490, 624},
		{5, KindPacket, 583, 613}, {6, KindPacket, 643, 828},
	}
	if got := schedule.Between(-1, 749); !slices.Equal(got, want) {
		t.Errorf("the first drops are %v, want %v", got, want)
	}
	for _, bomb := range []Drop{{20, KindBomb, 2454, 33}, {25, KindBomb, 3091, 670}} {
		if got, ok := schedule.Find(bomb.ID); !ok || got != bomb {
			t.Errorf("drop %d is %v, want %v", bomb.ID, got, bomb)
		}
	}
	if schedule.Len() != 240 {
		t.Errorf("%d drops in 30 s at 8 a second", schedule.Len())
	}
}

func anySchedule(t *rapid.T) (Settings, Schedule) {
	s := validSettings()
	s.DropsPerSecond = rapid.IntRange(1, MaxDropsPerSecond).Draw(t, "drops per second")
	s.BombPercent = rapid.IntRange(0, MaxBombPercent).Draw(t, "bomb percent")
	s.Duration = Millis(rapid.IntRange(3000, 20_000).Draw(t, "ms"))
	return s, NewSchedule(s, fixed(rapid.Int().Draw(t, "secret")))
}

func TestDropsAreNumberedInTheOrderOfTheirFall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, schedule := anySchedule(t)
		last := int64(-1)
		for i := range schedule.Len() {
			drop, ok := schedule.Find(DropID(i + 1)) //nolint:gosec // small
			if !ok || int(drop.ID) != i+1 || drop.AtMS < last || drop.AtMS >= int64(s.Duration) {
				t.Fatalf("drop %d is %+v, %t, after one at %d ms", i+1, drop, ok, last)
			}
			if drop.Lane < 0 || drop.Lane >= Lanes || (drop.Kind != KindPacket && drop.Kind != KindBomb) {
				t.Fatalf("drop %+v", drop)
			}
			last = drop.AtMS
		}
		for _, id := range []DropID{-1, 0, DropID(schedule.Len() + 1), math.MaxInt32, math.MinInt32} { //nolint:gosec // small
			if drop, ok := schedule.Find(id); ok {
				t.Fatalf("drop %d is %+v", id, drop)
			}
		}
		if want := int64(s.Duration) * int64(s.DropsPerSecond) / 1000; int64(schedule.Len()) != want {
			t.Fatalf("%d drops, want %d", schedule.Len(), want)
		}
	})
}

// What is sent second by second adds up to the whole schedule, without loss or repeats.
func TestBetweenPartitionsTheSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, schedule := anySchedule(t)
		var sent []Drop
		at := int64(-1)
		for at < int64(s.Duration) {
			until := at + rapid.Int64Range(0, 3000).Draw(t, "step")
			for _, drop := range schedule.Between(at, until) {
				if drop.AtMS <= at || drop.AtMS > until {
					t.Fatalf("%+v does not fall in (%d, %d]", drop, at, until)
				}
				sent = append(sent, drop)
			}
			at = until
		}
		if !slices.Equal(sent, schedule.drops) {
			t.Fatalf("%d drops were sent of %d", len(sent), schedule.Len())
		}
		if backwards := schedule.Between(at, -1); len(backwards) > 0 {
			t.Fatalf("backwards: %v", backwards)
		}
	})
}

func TestBombsHaveTheirShare(t *testing.T) {
	for _, percent := range []int{0, 1, 10, 50} {
		s := validSettings()
		s.BombPercent, s.Duration = percent, MaxDuration
		bombs, all := 0, 0
		for n := range 5 {
			for _, drop := range NewSchedule(s, fixed(n)).drops {
				if all++; drop.Kind == KindBomb {
					bombs++
				}
			}
		}
		p := float64(percent) / 100
		if off := math.Abs(float64(bombs) - p*float64(all)); off > 4*math.Sqrt(p*(1-p)*float64(all)) {
			t.Errorf("%d of %d drops are bombs, want %d %%", bombs, all, percent)
		}
	}
}

func TestSchedulesDependOnTheSecretAlone(t *testing.T) {
	s := validSettings()
	a, b := NewSchedule(s, fixed(1)), NewSchedule(s, fixed(1))
	if !slices.Equal(a.drops, b.drops) {
		t.Error("one secret gave two schedules")
	}
	if slices.Equal(a.drops, NewSchedule(s, fixed(2)).drops) {
		t.Error("two secrets gave one schedule")
	}
}

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
		ms := rapid.Int64Range(int64(MinDuration), int64(MaxDuration)).Draw(t, "duration")
		s.Duration = Millis(ms)
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
