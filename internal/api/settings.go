package api

import (
	"time"

	"redrain/internal/game"
)

// roundBody is the request for a new round: total and packets are required, all other fields have defaults.
type roundBody struct {
	Title            string      `json:"title"`
	TotalCents       *game.Cents `json:"total_cents"`
	Packets          *int        `json:"packets"`
	Split            game.Split  `json:"split"`
	Deal             game.Deal   `json:"deal"`
	Tiers            []tierBody  `json:"tiers"`
	Pace             game.Pace   `json:"pace"`
	Cap              int         `json:"cap"`
	MinCents         game.Cents  `json:"min_cents"`
	MaxCents         game.Cents  `json:"max_cents"`
	CountdownMS      int64       `json:"countdown_ms"`
	DurationMS       int64       `json:"duration_ms"`
	DropsPerSecond   int         `json:"drops_per_second"`
	BombPercent      int         `json:"bomb_percent"`
	CloseWhenSoldOut bool        `json:"close_when_sold_out"`
	Rehearsal        bool        `json:"rehearsal"`
}

type tierBody struct {
	Packets *int        `json:"packets"`
	Cents   *game.Cents `json:"cents"`
}

// newRoundBody returns the defaults, which remain in fields that a request leaves out.
func newRoundBody() roundBody {
	s := game.DefaultSettings()
	return roundBody{
		Split: s.Split, Pace: s.Pace, Cap: s.Cap, MinCents: s.Min, MaxCents: s.Max,
		CountdownMS: s.Countdown.Milliseconds(), DurationMS: s.Duration.Milliseconds(),
		DropsPerSecond: s.DropsPerSecond, BombPercent: s.BombPercent, CloseWhenSoldOut: s.CloseWhenSoldOut,
	}
}

// settings returns validated settings, or the first *game.Invalid.
func (b roundBody) settings() (game.Settings, error) {
	title, refused := game.CleanTitle(b.Title)
	if refused != nil {
		return game.Settings{}, refused
	}
	s := game.Settings{
		Title: title, Total: *b.TotalCents, Packets: *b.Packets, Split: b.Split, Deal: b.deal(), Tiers: b.tiers(),
		Pace: b.Pace, Cap: b.Cap, Min: b.MinCents, Max: b.MaxCents,
		Countdown: milliseconds(b.CountdownMS), Duration: milliseconds(b.DurationMS),
		DropsPerSecond: b.DropsPerSecond, BombPercent: b.BombPercent, CloseWhenSoldOut: b.CloseWhenSoldOut,
	}
	return s, s.Validate()
}

func (b roundBody) deal() game.Deal {
	if b.Split == game.SplitDealt && b.Deal == "" {
		return game.DealDoubleMean
	}
	return b.Deal
}

func (b roundBody) tiers() []game.Tier {
	var tiers []game.Tier
	for _, tier := range b.Tiers {
		tiers = append(tiers, game.Tier{Packets: *tier.Packets, Cents: *tier.Cents})
	}
	return tiers
}

// milliseconds converts to a duration. Values far out of range are clamped first, since an overflowing product could look valid.
func milliseconds(ms int64) time.Duration {
	const far = int64(24 * time.Hour / time.Millisecond)
	return time.Duration(min(max(ms, -1), far)) * time.Millisecond
}
