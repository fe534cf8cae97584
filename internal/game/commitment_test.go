package game

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

const knownRound = "11111111-2222-4333-8444-555555555555"

// goldenRounds are rounds of each kind of split, with the commitments of their two algorithms as sha256sum gives them.
func goldenRounds() map[[2]string]Round {
	play := Settings{Total: 10_000, Packets: 20, Min: 1, Cap: 1, Countdown: 10_000, Duration: 30_000, DropsPerSecond: 8, BombPercent: 10, CloseWhenSoldOut: true}
	live, dealt, tiers := play, play, play
	live.Split, live.Pace = SplitLive, PaceEven
	dealt.Split, dealt.Deal, dealt.Pace, dealt.Cap = SplitDealt, DealDoubleMean, PaceBurst, 3
	dealt.Countdown, dealt.Duration, dealt.DropsPerSecond, dealt.BombPercent, dealt.CloseWhenSoldOut = 0, 3001, 40, 0, false
	tiers.Split, tiers.Deal, tiers.Tiers, tiers.Pace = SplitDealt, DealTiers, []Tier{{5, 1250}, {15, 250}}, PaceEven
	return map[[2]string]Round{
		{
			"3ecaffd42eec0e075ce70119d94dc81717391e976c31d3f2bc1650a2aff9ae0c",
			"b053c6cd93d323ae387bac54e879b70fa3f23a45cecf6879418173bf0b3c3518",
		}: {ID: knownRound, Settings: live},
		{
			"9f615cc80968a9886f217f08747ec63ae35108df1a2fdd00a365ac955e2e5c5d",
			"09ca8b6ac64987a891bcd3ffdfb547c9061cf5d4e4007f3f0e878d196f28494c",
		}: {ID: knownRound, Settings: dealt},
		{
			"967734f6f3792d9a6e63a20c964c6ae5c038d9758ff58eed9ecb8395ef208ec8",
			"ed5a14ec951a838494d1e7b6adc8b7804984764247f142931be3d9ba05a657ea",
		}: {ID: knownRound, Settings: tiers, Rehearsal: true},
	}
}

// What a round was committed to under either algorithm can be checked for ever.
func TestCommitmentOfEitherAlgorithmIsAsDocumented(t *testing.T) {
	for want, round := range goldenRounds() {
		for i, want := range want {
			if got := Commitment(i+1, round, knownSecret); got != want {
				t.Errorf("algorithm %d, %s %s: %s, want %s", i+1, round.Settings.Split, round.Settings.Deal, got, want)
			}
		}
	}
	if got := Commitment(Algorithm+1, Round{}, knownSecret); got != "" {
		t.Errorf("an algorithm that there is not commits to %s", got)
	}
}

// Whoever fills the lines of the README in gets the commitments.
func TestCommitmentIsAsTheREADMESays(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, round := range goldenRounds() {
		s := round.Settings
		fill := strings.NewReplacer("SECRET", string(knownSecret), "BUDGET", strconv.FormatInt(int64(s.Total), 10), "PACKETS", strconv.Itoa(s.Packets),
			"MIN", "1", "MAX", "0", "SPLIT", s.splitText(), "PACE", string(s.Pace), "CAP", strconv.Itoa(s.Cap),
			"COUNTDOWN", strconv.FormatInt(int64(s.Countdown), 10), "DURATION", strconv.FormatInt(int64(s.Duration), 10),
			"DROPS", strconv.Itoa(s.DropsPerSecond), "BOMBS", strconv.Itoa(s.BombPercent), "CLOSE", strconv.FormatBool(s.CloseWhenSoldOut),
			"REHEARSAL", strconv.FormatBool(round.Rehearsal), "ROUND", round.ID)
		for algorithm := AmountsAlgorithm; algorithm <= Algorithm; algorithm++ {
			_, line, found := strings.Cut(string(readme), "\n    redrain:"+strconv.Itoa(algorithm)+":")
			line, _, _ = strings.Cut(line, "\n")
			sum := sha256.Sum256([]byte("redrain:" + strconv.Itoa(algorithm) + ":" + fill.Replace(line)))
			if got := hex.EncodeToString(sum[:]); !found || got != Commitment(algorithm, round, knownSecret) {
				t.Errorf("algorithm %d, %s %s: the README's line %q gives %s", algorithm, s.Split, s.Deal, line, got)
			}
		}
	}
}

// changesOfSettings has, for each setting that decides what falls, where, when, or what it is worth, a change of it alone, and
// what the settings must be for it to matter.
var changesOfSettings = map[string]struct{ given, change func(*Settings) }{
	"Total":            {nil, func(s *Settings) { s.Total++ }},
	"Packets":          {nil, func(s *Settings) { s.Packets++ }},
	"Split":            {nil, func(s *Settings) { s.Split = SplitDealt }},
	"Deal":             {dealtEqual, func(s *Settings) { s.Deal = DealDoubleMean }},
	"Tiers":            {inTiers(Tier{5, 1250}, Tier{15, 250}), func(s *Settings) { s.Tiers = []Tier{{15, 250}, {5, 1250}} }},
	"Pace":             {nil, func(s *Settings) { s.Pace = PaceBurst }},
	"Cap":              {nil, func(s *Settings) { s.Cap++ }},
	"Min":              {nil, func(s *Settings) { s.Min++ }},
	"Max":              {nil, func(s *Settings) { s.Max = 5000 }},
	"Countdown":        {nil, func(s *Settings) { s.Countdown++ }},
	"Duration":         {nil, func(s *Settings) { s.Duration++ }},
	"DropsPerSecond":   {nil, func(s *Settings) { s.DropsPerSecond++ }},
	"BombPercent":      {nil, func(s *Settings) { s.BombPercent++ }},
	"CloseWhenSoldOut": {nil, func(s *Settings) { s.CloseWhenSoldOut = false }},
}

// settingsThatDecideNothing are settings that a round is not committed to.
var settingsThatDecideNothing = map[string]bool{"Title": true}

// Whoever changes anything that decides what falls or what it is worth, after the countdown began, is found out.
func TestACommitmentChangesWithEverySettingThatDecidesSomething(t *testing.T) {
	of := func(s Settings) string { return Commitment(Algorithm, Round{ID: knownRound, Settings: s}, knownSecret) }
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Settings]()) {
		setting, decides := changesOfSettings[field.Name]
		if decides == settingsThatDecideNothing[field.Name] {
			t.Errorf("%s: is a round committed to it, or does it decide nothing?", field.Name)
			continue
		}
		if !decides {
			continue
		}
		before := validSettings()
		if setting.given != nil {
			setting.given(&before)
		}
		after := before
		setting.change(&after)
		if of(after) == of(before) {
			t.Errorf("%s can be changed behind a commitment", field.Name)
		}
		reflect.ValueOf(&after).Elem().FieldByIndex(field.Index).Set(reflect.ValueOf(before).FieldByIndex(field.Index))
		if !reflect.DeepEqual(after, before) {
			t.Errorf("the change of %s changes more than that", field.Name)
		}
	}
}

// A commitment is of one round: what was committed to for one, or for play money, says nothing about another.
func TestACommitmentIsOfOneRoundAndItsMoney(t *testing.T) {
	seen := map[string]string{}
	for name, round := range map[string]Round{
		"the round":                {ID: knownRound, Settings: validSettings()},
		"another round":            {ID: "11111111-2222-4333-8444-555555555556", Settings: validSettings()},
		"a rehearsal of the round": {ID: knownRound, Settings: validSettings(), Rehearsal: true},
	} {
		for of, secret := range map[string]Secret{"one secret": fixed(1), "another secret": fixed(2)} {
			commitment := Commitment(Algorithm, round, secret)
			if other, known := seen[commitment]; known {
				t.Errorf("%s of %s has the commitment of %s", name, of, other)
			}
			seen[commitment] = name + " of " + of
		}
	}
}

func TestACommitmentLeavesOutTheTitle(t *testing.T) {
	round := Round{ID: knownRound, Settings: validSettings()}
	plain := Commitment(Algorithm, round, knownSecret)
	if round.Settings.Title = "a:b"; Commitment(Algorithm, round, knownSecret) != plain {
		t.Error("another title has another commitment")
	}
}
