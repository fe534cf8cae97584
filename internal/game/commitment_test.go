package game

import (
	"testing"
	"time"
)

func TestCommitmentIsAsDocumented(t *testing.T) {
	live := Settings{Total: 10_000, Packets: 20, Min: 1, Split: SplitLive, Pace: PaceEven, Cap: 1}
	dealt, tiers := live, live
	dealt.Split, dealt.Deal, dealt.Pace, dealt.Cap = SplitDealt, DealDoubleMean, PaceBurst, 3
	tiers.Split, tiers.Deal, tiers.Tiers = SplitDealt, DealTiers, []Tier{{5, 1250}, {15, 250}}
	for want, s := range map[string]Settings{
		"3ecaffd42eec0e075ce70119d94dc81717391e976c31d3f2bc1650a2aff9ae0c": live,
		"9f615cc80968a9886f217f08747ec63ae35108df1a2fdd00a365ac955e2e5c5d": dealt,
		"967734f6f3792d9a6e63a20c964c6ae5c038d9758ff58eed9ecb8395ef208ec8": tiers,
	} {
		if got := Commitment(s, knownSecret); got != want {
			t.Errorf("%s %s: %s, want %s", s.Split, s.Deal, got, want)
		}
	}
}

// Whoever changes what decides an amount after the countdown began is found out.
func TestCommitmentHoldsEverythingThatDecidesAmounts(t *testing.T) {
	tiers := func(all ...Tier) func(*Settings) {
		return func(s *Settings) { s.Split, s.Deal, s.Tiers = SplitDealt, DealTiers, all }
	}
	deal := func(deal Deal) func(*Settings) { return func(s *Settings) { s.Split, s.Deal = SplitDealt, deal } }
	seen := map[string]string{Commitment(validSettings(), fixed(2)): "another secret"}
	for name, edit := range map[string]func(*Settings){
		"nothing":     func(*Settings) {},
		"total":       func(s *Settings) { s.Total++ },
		"packets":     func(s *Settings) { s.Packets++ },
		"min":         func(s *Settings) { s.Min++ },
		"max":         func(s *Settings) { s.Max = 5000 },
		"pace":        func(s *Settings) { s.Pace = PaceBurst },
		"cap":         func(s *Settings) { s.Cap++ },
		"double-mean": deal(DealDoubleMean),
		"equal":       deal(DealEqual),
		"tiers":       tiers(Tier{5, 1250}, Tier{15, 250}),
		"other tiers": tiers(Tier{15, 250}, Tier{5, 1250}),
		"one tier":    tiers(Tier{20, 500}),
	} {
		s := validSettings()
		edit(&s)
		text := Commitment(s, fixed(1))
		if other, known := seen[text]; known {
			t.Errorf("a change of %s has the commitment of %s", name, other)
		}
		seen[text] = name
	}
}

func TestCommitmentLeavesOutWhatDecidesNoAmount(t *testing.T) {
	plain := Commitment(validSettings(), fixed(1))
	s := validSettings()
	s.Title, s.Countdown, s.Duration, s.DropsPerSecond, s.BombPercent = "other", 0, time.Minute, 1, 0
	if Commitment(s, fixed(1)) != plain {
		t.Error("another title or time has another commitment")
	}
}
