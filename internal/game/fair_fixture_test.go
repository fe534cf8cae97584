package game

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// updateTestdata names the variable that, when set, has this test write its file anew.
const updateTestdata = "REDRAIN_UPDATE_TESTDATA"

const fairFixture = "testdata/fair.json"

// fairCase is one round as its players can check it: what the browser's code must make of the same secret and settings.
type fairCase struct {
	Name             string         `json:"name"`
	ID               string         `json:"id"`
	Rehearsal        bool           `json:"rehearsal"`
	Secret           string         `json:"secret"`
	Total            Cents          `json:"total_cents"`
	Packets          int            `json:"packets"`
	Min              Cents          `json:"min_cents"`
	Max              Cents          `json:"max_cents"`
	Split            Split          `json:"split"`
	Deal             Deal           `json:"deal"`
	Tiers            []Tier         `json:"tiers"`
	Pace             Pace           `json:"pace"`
	Cap              int            `json:"cap"`
	CountdownMS      int64          `json:"countdown_ms"`
	DurationMS       int64          `json:"duration_ms"`
	DropsPerSecond   int            `json:"drops_per_second"`
	BombPercent      int            `json:"bomb_percent"`
	CloseWhenSoldOut bool           `json:"close_when_sold_out"`
	Commitments      map[int]string `json:"commitments"`      // by algorithm
	Amounts          []Cents        `json:"amounts"`          // the first 30, in the order of claims
	AllSHA256        string         `json:"all_sha256"`       // of all amounts, in decimal, with a comma between two
	Drops            []string       `json:"drops"`            // the first 10, in the order of their fall, as in textOf
	AllDropsSHA256   string         `json:"all_drops_sha256"` // of all drops, with a comma between two
}

func textOf(d Drop) string { return fmt.Sprintf("%d %s %d %d", d.ID, d.Kind, d.AtMS, d.Lane) }

// joined are the texts of all, and their SHA-256 with a comma between two.
func joined[T any](all []T, text func(T) string) (texts []string, sum string) {
	for _, one := range all {
		texts = append(texts, text(one))
	}
	hash := sha256.Sum256([]byte(strings.Join(texts, ",")))
	return texts, hex.EncodeToString(hash[:])
}

func fairCaseOf(name string, s Settings, secret Secret) fairCase {
	round := Round{ID: knownRound, Settings: s, Rehearsal: s.Packets%2 == 1}
	all := amounts(s, secret)
	_, amountsSum := joined(all, func(c Cents) string { return strconv.FormatInt(int64(c), 10) })
	drops, dropsSum := joined(NewSchedule(s, secret).drops, textOf)
	tiers := s.Tiers
	if tiers == nil {
		tiers = []Tier{}
	}
	return fairCase{
		Name: name, ID: round.ID, Rehearsal: round.Rehearsal, Secret: string(secret), Total: s.Total, Packets: s.Packets, Min: s.Min,
		Max: s.Max, Split: s.Split, Deal: s.Deal, Tiers: tiers, Pace: s.Pace, Cap: s.Cap,
		CountdownMS: int64(s.Countdown), DurationMS: int64(s.Duration),
		DropsPerSecond: s.DropsPerSecond, BombPercent: s.BombPercent, CloseWhenSoldOut: s.CloseWhenSoldOut,
		Commitments: map[int]string{AmountsAlgorithm: Commitment(AmountsAlgorithm, round, secret), Algorithm: Commitment(Algorithm, round, secret)},
		Amounts:     all[:min(30, len(all))], AllSHA256: amountsSum, Drops: drops[:min(10, len(drops))], AllDropsSHA256: dropsSum,
	}
}

// fairCases go to the edges of what a round may be, where the two sides would part first.
func fairCases() []fairCase {
	live := validSettings()
	dealt := live
	dealt.Split, dealt.Deal, dealt.Pace, dealt.Cap = SplitDealt, DealDoubleMean, PaceBurst, 3
	with := func(s Settings, change func(*Settings)) Settings {
		change(&s)
		return s
	}
	cases := []fairCase{
		fairCaseOf("live", live, knownSecret),
		fairCaseOf("live between bounds", with(live, func(s *Settings) { s.Min, s.Max = 300, 700 }), knownSecret),
		fairCaseOf("live, as many drops as may be", with(live, func(s *Settings) {
			s.Duration, s.DropsPerSecond, s.BombPercent = MaxDuration, MaxDropsPerSecond, MaxBombPercent
		}), fixed(7)),
		fairCaseOf("live, one packet", with(live, func(s *Settings) { s.Packets = 1 }), fixed(1)),
		fairCaseOf("live, a cent each", with(live, func(s *Settings) { s.Total = 20 }), fixed(2)),
		fairCaseOf("live, all as much as may be", with(live, func(s *Settings) { s.Max = 500 }), fixed(3)),
		fairCaseOf("live, the greatest budget in few packets", with(live, func(s *Settings) { s.Total, s.Packets = MaxTotal, 7 }), fixed(4)),
		fairCaseOf("live, many packets", with(live, func(s *Settings) { s.Total, s.Packets = 1_234_567, 20_011 }), fixed(5)),
		fairCaseOf("dealt", dealt, knownSecret),
		fairCaseOf("dealt, many packets", with(dealt, func(s *Settings) { s.Total, s.Packets, s.Max = 8_888_888, 12_345, 1000 }), fixed(6)),
		fairCaseOf("dealt, equal", with(dealt, func(s *Settings) { s.Deal, s.Total, s.Packets = DealEqual, 100, 18 }), knownSecret),
		fairCaseOf("dealt, tiers", with(dealt, func(s *Settings) {
			s.Deal, s.Tiers, s.Total, s.Packets = DealTiers, []Tier{{2, 8800}, {5, 880}, {30, 88}}, 24_640, 37
		}), knownSecret),
	}
	for i := range 20 {
		s := with(live, func(s *Settings) { s.Total, s.Packets, s.Min = Cents(9973+i*i*7919), 3+i*5, Cents(1+i) })
		s.Countdown, s.Duration = Millis(1000*i), MinDuration+Millis(37*i*i*i)
		s.DropsPerSecond, s.BombPercent, s.CloseWhenSoldOut = 1+2*i, min(3*i, MaxBombPercent), i%3 > 0
		cases = append(cases, fairCaseOf(fmt.Sprintf("live %d", i), s, fixed(100+i)))
	}
	return cases
}

// What players recompute in their browsers from a settled round's secret is what the server drew: the browser's test reads
// the same file. `REDRAIN_UPDATE_TESTDATA=1 go test ./internal/game -run Fair` writes it.
func TestFairFixtureIsWhatTheServerDraws(t *testing.T) {
	want, err := json.MarshalIndent(fairCases(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if os.Getenv(updateTestdata) != "" {
		if err := os.WriteFile(fairFixture, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(fairFixture)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what this code draws; what rounds were begun with must stay as it is; for new rules or cases set %s", fairFixture, updateTestdata)
	}
}
