package api

import "redrain/internal/game"

// roundBody is the request for a new round: total and packets are required, all other fields have defaults.
type roundBody struct {
	game.Settings

	Total     *game.Cents `json:"total_cents"`
	Packets   *int        `json:"packets"`
	Tiers     []tierBody  `json:"tiers"`
	Rehearsal bool        `json:"rehearsal"`
}

type tierBody struct {
	Packets *int        `json:"packets"`
	Cents   *game.Cents `json:"cents"`
}

// newRoundBody returns the defaults, which remain in fields that a request leaves out.
func newRoundBody() roundBody { return roundBody{Settings: game.DefaultSettings()} }

// settings returns validated settings, or the first *game.Invalid.
func (b roundBody) settings() (game.Settings, error) {
	s := b.Settings
	title, refused := game.CleanTitle(s.Title)
	if refused != nil {
		return game.Settings{}, refused
	}
	s.Title, s.Total, s.Packets, s.Tiers = title, *b.Total, *b.Packets, b.tiers()
	if s.Split == game.SplitDealt && s.Deal == "" {
		s.Deal = game.DealDoubleMean
	}
	return s, s.Validate()
}

func (b roundBody) tiers() []game.Tier {
	var tiers []game.Tier
	for _, tier := range b.Tiers {
		tiers = append(tiers, game.Tier{Packets: *tier.Packets, Cents: *tier.Cents})
	}
	return tiers
}
