package game

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestSplitsAreAsDocumented(t *testing.T) {
	live := Settings{Total: 10_000, Packets: 20, Min: 1, Split: SplitLive}
	bounded, dealt, equal, tiers := live, live, live, live
	bounded.Min, bounded.Max = 300, 700
	dealt.Split, dealt.Deal = SplitDealt, DealDoubleMean
	equal.Split, equal.Deal, equal.Total, equal.Packets = SplitDealt, DealEqual, 100, 18
	tiers.Split, tiers.Deal, tiers.Tiers = SplitDealt, DealTiers, []Tier{{2, 88}, {5, 8}}
	for _, c := range []struct {
		settings Settings
		want     []Cents
	}{
		{live, []Cents{21, 861, 138, 746, 375, 459, 842, 71, 838, 801, 279, 631, 695, 756, 471, 607, 103, 856, 290, 160}},
		{bounded, []Cents{385, 466, 625, 383, 617, 620, 622, 484, 614, 373, 305, 599, 385, 688, 583, 339, 643, 511, 412, 346}},
		{dealt, []Cents{548, 41, 327, 857, 901, 978, 468, 699, 159, 384, 295, 568, 951, 59, 677, 859, 391, 315, 353, 170}},
		{equal, []Cents{6, 5, 5, 5, 6, 6, 5, 5, 6, 5, 6, 6, 5, 5, 6, 6, 6, 6}},
		{tiers, []Cents{8, 88, 8, 8, 88, 8, 8}},
	} {
		if got := amounts(c.settings, knownSecret); !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %v, want %v", c.settings.Split, c.settings.Deal, got, c.want)
		}
	}
}

func amounts(s Settings, secret Secret) []Cents {
	if s.Split == SplitDealt {
		return DealtAmounts(s, secret)
	}
	return drawnAmounts(s, secret.Draws("live"))
}

// fixed is a secret that is the same in every run.
func fixed(n int) Secret {
	sum := sha256.Sum256([]byte(strconv.Itoa(n)))
	return Secret(hex.EncodeToString(sum[:]))
}

// anyBudget draws valid bounds, packets and a total that is often exactly what they allow at least or at most.
func anyBudget(t *rapid.T) Settings {
	s := validSettings()
	s.Packets = rapid.OneOf(rapid.IntRange(1, 3), rapid.IntRange(1, 400)).Draw(t, "packets")
	s.Min = Cents(rapid.Int64Range(1, 1000).Draw(t, "min"))
	high := min(s.Min+Cents(rapid.Int64Range(0, 100_000).Draw(t, "span")), MaxTotal/Cents(s.Packets))
	if rapid.Bool().Draw(t, "has a max") {
		s.Max = high
	}
	least, most := Cents(s.Packets)*s.Min, Cents(s.Packets)*high
	s.Total = rapid.OneOf(
		rapid.Just(least), rapid.Just(most), rapid.Map(rapid.Int64Range(int64(least), int64(most)), func(n int64) Cents { return Cents(n) }),
	).Draw(t, "total")
	return s
}

func TestSplitIsExactAndWithinBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyBudget(t)
		deal := rapid.SampledFrom([]Deal{"", DealDoubleMean, DealEqual}).Draw(t, "deal")
		if deal != "" {
			s.Split, s.Deal = SplitDealt, deal
		}
		if err := s.Validate(); err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		checkAmounts(t, s, amounts(s, fixed(rapid.Int().Draw(t, "secret"))))
		checkAmounts(t, s, Preview(s))
	})
}

// fatal is what *testing.T and *rapid.T have in common here.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkAmounts keeps invariants 1 and 2.
func checkAmounts(t fatal, s Settings, all []Cents) {
	t.Helper()
	var sum Cents
	for i, cents := range all {
		if sum += cents; cents < s.Min || (s.Max > 0 && cents > s.Max) {
			t.Fatalf("invariant 2: packet %d of %+v has %d", i, s, int64(cents))
		}
	}
	if sum != s.Total || len(all) != s.Packets {
		t.Fatalf("invariant 1: %d packets of %d cents in all, want %d of %d", len(all), int64(sum), s.Packets, int64(s.Total))
	}
}

// Cases 2 and 4: budgets on which naive splits failed elsewhere: an empty interval, zero or negative packets, an overflow, a
// broken cap. Here every packet keeps its bounds and the sum is exact; what cannot be split is refused beforehand.
func TestBudgetsThatBrokeOtherSplits(t *testing.T) {
	for _, c := range []Settings{
		{Total: 20, Packets: 20, Min: 1}, {Total: 30, Packets: 20, Min: 1}, {Total: 2, Packets: 2, Min: 1},
		{Total: 3, Packets: 3, Min: 1}, {Total: 100, Packets: 18, Min: 1}, {Total: 4_000_000, Packets: 2, Min: 1},
		{Total: 5000, Packets: 12, Min: 1, Max: 500}, {Total: 6000, Packets: 12, Min: 1, Max: 500},
		{Total: 1, Packets: 1, Min: 1}, {Total: MaxTotal, Packets: 1, Min: 1}, {Total: MaxTotal, Packets: 1, Min: 1, Max: MaxTotal},
		{Total: MaxTotal, Packets: 2, Min: 1}, {Total: 20_000, Packets: 20_000, Min: 1},
		{Total: MaxTotal, Packets: 20_000, Min: 1, Max: 500_000}, {Total: MaxTotal, Packets: MaxPackets, Min: 10_000},
	} {
		for _, deal := range []Deal{"", DealDoubleMean, DealEqual} {
			if c.Split, c.Deal = SplitDealt, deal; deal == "" {
				c.Split = SplitLive
			}
			checkAmounts(t, c, amounts(c, fixed(1)))
		}
	}
}

// Over all draws each amount of the interval comes equally often, and the mean is rest/left exactly: nobody is better off early
// or late.
func TestEveryDrawIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		left := Cents(rapid.Int64Range(2, 12).Draw(t, "left"))
		low := Cents(rapid.Int64Range(1, 5).Draw(t, "low"))
		high := low + Cents(rapid.Int64Range(0, 30).Draw(t, "span"))
		rest := Cents(rapid.Int64Range(int64(left*low), int64(left*high)).Draw(t, "rest"))
		limit := high
		if rapid.Bool().Draw(t, "no max") {
			limit = 0
		}
		var means Cents // the sum over u mod left of the middle of each interval
		for r := range left {
			means += middle(t, rest, left, low, limit, r)
		}
		if means != rest {
			t.Fatalf("the mean is %d/%d², not %d/%d", means, left, rest, left)
		}
	})
}

// middle is the mean of the amounts of the draws u = r, r + left, r + 2·left, … over a whole period.
func middle(t *rapid.T, rest, left, low, high, r Cents) Cents {
	at := func(k Cents) Cents { return LiveAmount(rest, int(left), low, high, uint64(r+k*left)) } //nolint:gosec // small
	first, period := at(0), Cents(1)
	for at(period) != first {
		if at(period) != first+period {
			t.Fatalf("draw %d gives %d after %d: not uniform", period, at(period), first)
		}
		period++
	}
	others, last := left-1, first+period-1
	if rest-last < others*low || (high > 0 && rest-first > others*high) {
		t.Fatalf("amounts from %d to %d of %d do not leave enough for %d others", first, last, rest, others)
	}
	if period%2 == 0 {
		t.Fatalf("%d amounts have no middle", period)
	}
	return (first + last) / 2
}

// The second-to-last was always the lowest elsewhere. Here each position's mean over many rounds is the budget's mean, within
// four standard errors; the secrets are fixed, so this is no lottery.
func TestPositionsHaveTheSameMean(t *testing.T) {
	const rounds = 3000
	for _, c := range []Settings{
		{Total: 10_000, Packets: 10, Min: 1, Split: SplitLive},
		{Total: 10_000, Packets: 10, Min: 400, Split: SplitLive},
		{Total: 10_000, Packets: 10, Min: 1, Max: 1500, Split: SplitLive},
		{Total: 10_000, Packets: 10, Min: 600, Max: 1200, Split: SplitLive},
		{Total: 10_000, Packets: 10, Min: 950, Max: 5000, Split: SplitLive},
		{Total: 23, Packets: 10, Min: 1, Split: SplitLive},
		{Total: 10_000, Packets: 10, Min: 1, Split: SplitDealt, Deal: DealDoubleMean},
		{Total: 10_000, Packets: 10, Min: 600, Max: 1200, Split: SplitDealt, Deal: DealDoubleMean},
		{Total: 10_003, Packets: 10, Min: 1, Split: SplitDealt, Deal: DealEqual},
		{Total: 1900, Packets: 10, Min: 1, Split: SplitDealt, Deal: DealTiers, Tiers: []Tier{{1, 1000}, {9, 100}}},
	} {
		t.Run(fmt.Sprintf("%s%s min %d max %d", c.Split, c.Deal, c.Min, c.Max), func(t *testing.T) {
			sums, squares := make([]float64, c.Packets), make([]float64, c.Packets)
			for n := range rounds {
				for i, cents := range amounts(c, fixed(n)) {
					sums[i] += float64(cents)
					squares[i] += float64(cents) * float64(cents)
				}
			}
			want := float64(c.Total) / float64(c.Packets)
			for i := range sums {
				mean := sums[i] / rounds
				deviation := math.Sqrt(squares[i]/rounds - mean*mean)
				if off := math.Abs(mean - want); off > 4*deviation/math.Sqrt(rounds) || deviation == 0 {
					t.Errorf("position %d has the mean %.2f, want %.2f, at a deviation of %.2f", i+1, mean, want, deviation)
				}
			}
		})
	}
}

func TestLiveSplitReachesDoubleTheMean(t *testing.T) {
	s := Settings{Total: 10_000, Packets: 10, Min: 1}
	lowest, highest := s.Total, Cents(0)
	for n := range 20_000 {
		first := LiveAmount(s.Total, s.Packets, s.Min, 0, fixed(0).Draws("live").At(n))
		lowest, highest = min(lowest, first), max(highest, first)
	}
	if lowest != 1 || highest != 1999 {
		t.Errorf("the first packet lies between %d and %d, want 1 and twice the mean less one", lowest, highest)
	}
}

// Amounts repeated from round to round elsewhere.
func TestSecretsGiveDifferentSequences(t *testing.T) {
	for _, deal := range []Deal{"", DealDoubleMean} {
		s := validSettings()
		if s.Deal = deal; deal != "" {
			s.Split = SplitDealt
		}
		seen := make(map[string]bool)
		for n := range 1000 {
			seen[fmt.Sprint(amounts(s, fixed(n)))] = true
		}
		if len(seen) != 1000 {
			t.Errorf("%s %s: 1000 secrets gave %d sequences", s.Split, s.Deal, len(seen))
		}
	}
}

func TestDealtRoundsHoldExactlyTheirTiers(t *testing.T) {
	s := validSettings()
	s.Split, s.Deal, s.Tiers, s.Packets, s.Total = SplitDealt, DealTiers, []Tier{{10, 8800}, {100, 880}}, 110, 176_000
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	n := make(map[Cents]int)
	for _, cents := range DealtAmounts(s, knownSecret) {
		n[cents]++
	}
	if n[8800] != 10 || n[880] != 100 || len(n) != 2 {
		t.Errorf("dealt %v", n)
	}
}

// Elsewhere a fixed amount, rounded for each packet, left the last one negative. Here the rest is spread, a cent each.
func TestEqualPacketsDifferByACentAtMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyBudget(t)
		s.Split, s.Deal = SplitDealt, DealEqual
		all := DealtAmounts(s, knownSecret)
		if slices.Max(all)-slices.Min(all) > 1 {
			t.Fatalf("%v", all)
		}
	})
}

func TestPreviewsAreThrowaway(t *testing.T) {
	s := validSettings()
	if slices.Equal(Preview(s), Preview(s)) {
		t.Error("two previews are the same: they come from one secret")
	}
}
