package game

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// updateTestdata names the variable that, when set, has this test write its file anew.
const updateTestdata = "REDRAIN_UPDATE_TESTDATA"

const fairFixture = "testdata/fair.json"

// fairCase is one round as its players can check it: what the browser's code must make of the same secret and settings.
type fairCase struct {
	Name       string  `json:"name"`
	Secret     string  `json:"secret"`
	Total      Cents   `json:"total_cents"`
	Packets    int     `json:"packets"`
	Min        Cents   `json:"min_cents"`
	Max        Cents   `json:"max_cents"`
	Split      Split   `json:"split"`
	Deal       Deal    `json:"deal"`
	Tiers      []Tier  `json:"tiers"`
	Pace       Pace    `json:"pace"`
	Cap        int     `json:"cap"`
	Commitment string  `json:"commitment"`
	Amounts    []Cents `json:"amounts"`    // the first 30, in the order of claims
	AllSHA256  string  `json:"all_sha256"` // of all amounts, in decimal, with a comma between two
}

func fairCaseOf(name string, s Settings, secret Secret) fairCase {
	all := amounts(s, secret)
	hash := sha256.New()
	for i, amount := range all {
		if i > 0 {
			hash.Write([]byte(","))
		}
		fmt.Fprintf(hash, "%d", amount)
	}
	tiers := s.Tiers
	if tiers == nil {
		tiers = []Tier{}
	}
	return fairCase{
		Name: name, Secret: string(secret), Total: s.Total, Packets: s.Packets, Min: s.Min, Max: s.Max, Split: s.Split,
		Deal: s.Deal, Tiers: tiers, Pace: s.Pace, Cap: s.Cap, Commitment: Commitment(s, secret),
		Amounts: all[:min(30, len(all))], AllSHA256: hex.EncodeToString(hash.Sum(nil)),
	}
}

// fairCases go to the edges of what a round may be, where the two sides would part first.
func fairCases() []fairCase {
	live := Settings{Total: 10_000, Packets: 20, Min: 1, Split: SplitLive, Pace: PaceEven, Cap: 1}
	dealt := live
	dealt.Split, dealt.Deal, dealt.Pace, dealt.Cap = SplitDealt, DealDoubleMean, PaceBurst, 3
	with := func(s Settings, change func(*Settings)) Settings {
		change(&s)
		return s
	}
	cases := []fairCase{
		fairCaseOf("live", live, knownSecret),
		fairCaseOf("live between bounds", with(live, func(s *Settings) { s.Min, s.Max = 300, 700 }), knownSecret),
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
		t.Errorf("%s is not what this code draws; if the rules were meant to change, Algorithm must change too, and then %s be set", fairFixture, updateTestdata)
	}
}
