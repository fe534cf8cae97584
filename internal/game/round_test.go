package game

import (
	"slices"
	"testing"
)

var allPhases = []Phase{Draft, Countdown, Raining, Closed, Settled}

func TestPhasesFollowTheirOrder(t *testing.T) {
	steps := map[[2]Phase]bool{
		{Draft, Countdown}: true, {Countdown, Raining}: true, {Countdown, Closed}: true, {Raining, Closed}: true,
		{Closed, Settled}: true,
	}
	for _, p := range append(allPhases, "", "frozen") {
		for _, q := range append(allPhases, "", "frozen") {
			if got := p.CanBecome(q); got != steps[[2]Phase{p, q}] {
				t.Errorf("%q can become %q: %t", p, q, got)
			}
			if from := slices.Contains(q.Before(), p); from != steps[[2]Phase{p, q}] {
				t.Errorf("%q is before %q: %t", p, q, from)
			}
		}
	}
}

// Over never reverts: what a gate learned of it once it may say for ever.
func TestOverIsForEver(t *testing.T) {
	for _, p := range allPhases {
		for _, q := range allPhases {
			if p.Over() && p.CanBecome(q) && !q.Over() {
				t.Errorf("%s is over and can become %s", p, q)
			}
		}
		if want := p == Countdown || p == Raining; p.Active() != want {
			t.Errorf("%s is active: %t", p, p.Active())
		}
		if want := p == Closed || p == Settled; p.Over() != want {
			t.Errorf("%s is over: %t", p, p.Over())
		}
	}
}

func TestPhaseOfAnOpenedRoundIsByTheClock(t *testing.T) {
	for _, c := range []struct {
		now  Moment
		want Phase
	}{{999, Countdown}, {1000, Raining}, {1001, Raining}} {
		if got := PhaseAt(c.now, 1000); got != c.want {
			t.Errorf("at %d it is %s, want %s", c.now, got, c.want)
		}
	}
}

func TestLettersOfOutcomes(t *testing.T) {
	seen := make(map[Outcome]byte)
	for letter := range byte(128) {
		outcome, err := OutcomeOfLetter(letter)
		if err != nil {
			continue
		}
		if other, known := seen[outcome]; known {
			t.Errorf("%s has the letters %q and %q", outcome, letter, other)
		}
		seen[outcome] = letter
	}
	for _, want := range []Outcome{Won, Duplicate, Capped, Missed, SoldOut, Early, Late, Frozen, Bomb, Throttled} {
		if _, known := seen[want]; !known {
			t.Errorf("%s has no letter", want)
		}
	}
	if len(seen) != 10 {
		t.Errorf("letters are of %v", seen)
	}
}

func TestCentsArePrintedInYuan(t *testing.T) {
	for cents, want := range map[Cents]string{
		0: "0.00", 1: "0.01", 99: "0.99", 100: "1.00", 123456: "1234.56", -1: "-0.01", -250: "-2.50", MaxTotal: "100000000.00",
	} {
		if got := cents.String(); got != want {
			t.Errorf("%d cents are %s, want %s", int64(cents), got, want)
		}
	}
}
