package game

import (
	"fmt"
	"time"
)

// Split says when the amounts are cut.
type Split string

// The splits.
const (
	SplitLive  Split = "live"  // each amount is drawn when its packet is grabbed
	SplitDealt Split = "dealt" // all amounts lie in a List before the rain
)

// Deal says how a dealt round's amounts are made.
type Deal string

// The deals.
const (
	DealDoubleMean Deal = "double_mean" // the live draws, shuffled
	DealEqual      Deal = "equal"       // all the same, the remainder spread a cent each
	DealTiers      Deal = "tiers"       // so many packets of this amount, so many of that
)

// Tier is a number of packets of one amount each.
type Tier struct {
	Packets int   `json:"packets"`
	Cents   Cents `json:"cents"`
}

// Millis is a length of time in whole milliseconds.
type Millis int64

// Duration is the same as a time.Duration.
func (m Millis) Duration() time.Duration { return time.Duration(m) * time.Millisecond }

// The limits of a round's settings, all inclusive.
const (
	MaxTotal          Cents  = 10_000_000_000
	MaxPackets               = 1_000_000
	MaxCap                   = 100
	MinDuration       Millis = 3_000
	MaxDuration       Millis = 600_000
	MaxCountdown      Millis = 60_000
	MaxDropsPerSecond        = 40
	MaxBombPercent           = 50
	MaxTiers                 = 20
)

// Settings are what the host chooses for a round. The tags are the names in JSON and in SQL, which nothing else spells: a new setting
// needs a field here, its limits in Validate, a column in a migration, its place in the page's form, and a line in the protocol.
type Settings struct {
	Title            string `json:"title" bun:"title"`
	Total            Cents  `json:"total_cents" bun:"total_cents"`
	Packets          int    `json:"packets" bun:"packets"`
	Split            Split  `json:"split" bun:"split"`
	Deal             Deal   `json:"deal" bun:"deal"`   // of a dealt round; empty for a live one
	Tiers            []Tier `json:"tiers" bun:"tiers"` // of DealTiers, else empty
	Pace             Pace   `json:"pace" bun:"pace"`
	Cap              int    `json:"cap" bun:"cap"`             // claims a player may have
	Min              Cents  `json:"min_cents" bun:"min_cents"` // of a packet, at least 1
	Max              Cents  `json:"max_cents" bun:"max_cents"` // of a packet; 0: none
	Countdown        Millis `json:"countdown_ms" bun:"countdown_ms"`
	Duration         Millis `json:"duration_ms" bun:"duration_ms"`
	DropsPerSecond   int    `json:"drops_per_second" bun:"drops_per_second"`
	BombPercent      int    `json:"bomb_percent" bun:"bomb_percent"`
	CloseWhenSoldOut bool   `json:"close_when_sold_out" bun:"close_when_sold_out"` // close at the last claim instead of at ends_at
}

// DefaultSettings are those of a round of which only the total and the packets are said.
func DefaultSettings() Settings {
	return Settings{
		Split: SplitLive, Pace: PaceEven, Cap: 1, Min: 1, Countdown: 10_000, Duration: 30_000,
		DropsPerSecond: 8, BombPercent: 10, CloseWhenSoldOut: true,
	}
}

// Invalid is refused input: a code for programs, the field at fault, and one sentence for people.
type Invalid struct {
	Code    string
	Field   string
	Message string
}

func (e *Invalid) Error() string { return e.Message }

func outOfRange(field string, low, high any) *Invalid {
	return &Invalid{Code: "out_of_range", Field: field, Message: fmt.Sprintf("%s must be between %v and %v", field, low, high)}
}

func notOneOf(field string, choices ...any) *Invalid {
	return &Invalid{Code: "not_a_choice", Field: field, Message: fmt.Sprintf("%s must be one of %v", field, choices)}
}

// Validate returns the first *Invalid of the settings, in the order of the form, or nil. Field names are those of the API.
func (s Settings) Validate() error {
	for _, check := range []func() *Invalid{s.checkTitle, s.checkBudget, s.checkSplit, s.checkBounds, s.checkPlay} {
		if refused := check(); refused != nil {
			return refused
		}
	}
	return nil
}

func (s Settings) checkTitle() *Invalid {
	if _, err := CleanTitle(s.Title); err != nil {
		return err
	}
	return nil
}

func (s Settings) checkBudget() *Invalid {
	switch {
	case s.Total < 1 || s.Total > MaxTotal:
		return outOfRange("total_cents", 1, int64(MaxTotal))
	case s.Packets < 1 || s.Packets > MaxPackets:
		return outOfRange("packets", 1, MaxPackets)
	}
	return nil
}

func (s Settings) checkSplit() *Invalid {
	switch {
	case s.Split != SplitLive && s.Split != SplitDealt:
		return notOneOf("split", SplitLive, SplitDealt)
	case s.Split == SplitLive && s.Deal != "":
		return &Invalid{Code: "not_a_choice", Field: "deal", Message: "deal is for dealt rounds only"}
	case s.Split == SplitDealt && s.Deal != DealDoubleMean && s.Deal != DealEqual && s.Deal != DealTiers:
		return notOneOf("deal", DealDoubleMean, DealEqual, DealTiers)
	case s.Deal != DealTiers && len(s.Tiers) > 0:
		return &Invalid{Code: "not_a_choice", Field: "tiers", Message: "tiers are for the deal tiers only"}
	case s.Deal == DealTiers:
		return s.checkTiers()
	}
	return nil
}

func (s Settings) checkTiers() *Invalid {
	if len(s.Tiers) < 1 || len(s.Tiers) > MaxTiers {
		return &Invalid{Code: "out_of_range", Field: "tiers", Message: fmt.Sprintf("there must be 1 to %d tiers", MaxTiers)}
	}
	var packets int
	var total Cents
	for _, tier := range s.Tiers {
		if tier.Packets < 1 || tier.Packets > MaxPackets {
			return outOfRange("tiers", 1, MaxPackets)
		}
		if tier.Cents < s.Min || tier.Cents > MaxTotal || (s.Max > 0 && tier.Cents > s.Max) {
			return &Invalid{Code: "out_of_range", Field: "tiers", Message: "each tier's cents must lie between min_cents and max_cents"}
		}
		packets += tier.Packets
		total += Cents(tier.Packets) * tier.Cents
	}
	if packets != s.Packets || total != s.Total {
		return &Invalid{
			Code: "sum_mismatch", Field: "tiers",
			Message: fmt.Sprintf("the tiers hold %d packets and %d cents, the round %d and %d", packets, total, s.Packets, s.Total),
		}
	}
	return nil
}

func (s Settings) checkBounds() *Invalid {
	switch {
	case s.Min < 1 || s.Min > MaxTotal:
		return outOfRange("min_cents", 1, int64(MaxTotal))
	case s.Max < 0 || s.Max > MaxTotal:
		return outOfRange("max_cents", 0, int64(MaxTotal))
	case s.Max > 0 && s.Max < s.Min:
		return &Invalid{Code: "out_of_range", Field: "max_cents", Message: "max_cents must not be below min_cents"}
	case s.Total < Cents(s.Packets)*s.Min:
		return &Invalid{
			Code: "budget_too_small", Field: "total_cents",
			Message: fmt.Sprintf("%d packets of at least %d cents need %d cents", s.Packets, s.Min, Cents(s.Packets)*s.Min),
		}
	case s.Max > 0 && s.Total > Cents(s.Packets)*s.Max:
		return &Invalid{
			Code: "budget_too_large", Field: "total_cents",
			Message: fmt.Sprintf("%d packets of at most %d cents hold only %d cents", s.Packets, s.Max, Cents(s.Packets)*s.Max),
		}
	}
	return nil
}

func (s Settings) checkPlay() *Invalid {
	switch {
	case s.Pace != PaceBurst && s.Pace != PaceEven:
		return notOneOf("pace", PaceEven, PaceBurst)
	case s.Cap < 1 || s.Cap > MaxCap:
		return outOfRange("cap", 1, MaxCap)
	case s.Countdown < 0 || s.Countdown > MaxCountdown:
		return outOfRange("countdown_ms", 0, MaxCountdown)
	case s.Duration < MinDuration || s.Duration > MaxDuration:
		return outOfRange("duration_ms", MinDuration, MaxDuration)
	case s.DropsPerSecond < 1 || s.DropsPerSecond > MaxDropsPerSecond:
		return outOfRange("drops_per_second", 1, MaxDropsPerSecond)
	case s.BombPercent < 0 || s.BombPercent > MaxBombPercent:
		return outOfRange("bomb_percent", 0, MaxBombPercent)
	}
	return nil
}
