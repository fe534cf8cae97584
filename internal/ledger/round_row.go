package ledger

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

type roundRow struct {
	bun.BaseModel `bun:"table:rounds"`

	ID               string `bun:"id,pk"`
	Room             string `bun:"room"`
	Title            string `bun:"title"`
	TotalCents       int64  `bun:"total_cents"`
	Packets          int    `bun:"packets"`
	Split            string `bun:"split"`
	Deal             string `bun:"deal"`
	Tiers            string `bun:"tiers"`
	Pace             string `bun:"pace"`
	Cap              int    `bun:"cap"`
	MinCents         int64  `bun:"min_cents"`
	MaxCents         int64  `bun:"max_cents"`
	CountdownMS      int64  `bun:"countdown_ms"`
	DurationMS       int64  `bun:"duration_ms"`
	DropsPerSecond   int    `bun:"drops_per_second"`
	BombPercent      int    `bun:"bomb_percent"`
	CloseWhenSoldOut bool   `bun:"close_when_sold_out"`
	Rehearsal        bool   `bun:"rehearsal"`
	Phase            string `bun:"phase"`
	Reason           string `bun:"reason"`
	Frozen           bool   `bun:"frozen"`
	FreezeReason     string `bun:"freeze_reason"`
	FreezeVersion    int64  `bun:"freeze_version"`
	Secret           string `bun:"secret"`
	Algorithm        int    `bun:"algorithm"` // in a draft that of a server which does not know the column
	Commitment       string `bun:"commitment"`
	StartsAt         int64  `bun:"starts_at"`
	EndsAt           int64  `bun:"ends_at"`
	ClaimedPackets   int    `bun:"claimed_packets"`
	ClaimedCents     int64  `bun:"claimed_cents"`
	CreatedAt        int64  `bun:"created_at"`
	BegunAt          int64  `bun:"begun_at"`
	ClosedAt         int64  `bun:"closed_at"`
	Place            int64  `bun:"place"`
	StartsOn         int64  `bun:"starts_on"`
}

func draftRow(id, room string, s game.Settings, rehearsal bool, now time.Time) (*roundRow, error) {
	tiers, err := json.Marshal(s.Tiers)
	if err != nil {
		return nil, fmt.Errorf("write tiers: %w", err)
	}
	return &roundRow{
		ID: id, Room: room, Title: s.Title, TotalCents: int64(s.Total), Packets: s.Packets,
		Split: string(s.Split), Deal: string(s.Deal), Tiers: string(tiers), Pace: string(s.Pace),
		Cap: s.Cap, MinCents: int64(s.Min), MaxCents: int64(s.Max),
		CountdownMS: s.Countdown.Milliseconds(), DurationMS: s.Duration.Milliseconds(),
		DropsPerSecond: s.DropsPerSecond, BombPercent: s.BombPercent, CloseWhenSoldOut: s.CloseWhenSoldOut,
		Rehearsal: rehearsal, Phase: string(game.Draft), Algorithm: game.AmountsAlgorithm, CreatedAt: now.UnixMilli(), Place: now.UnixMilli(),
	}, nil
}

func (r *roundRow) round() (game.Round, error) {
	settings, err := r.settings()
	if err != nil {
		return game.Round{}, err
	}
	round := game.Round{
		ID: r.ID, Room: r.Room, Settings: settings,
		Phase: game.Phase(r.Phase), Reason: game.CloseReason(r.Reason), Frozen: r.Frozen,
		FreezeReason: game.FreezeReason(r.FreezeReason), FreezeVersion: r.FreezeVersion, Rehearsal: r.Rehearsal,
		Secret: game.Secret(r.Secret), Commitment: r.Commitment,
		StartsAt: game.Moment(r.StartsAt), EndsAt: game.Moment(r.EndsAt), CreatedAt: time.UnixMilli(r.CreatedAt),
		Place: r.Place, StartsOn: game.Moment(r.StartsOn),
		Claimed: game.Total{Packets: r.ClaimedPackets, Cents: game.Cents(r.ClaimedCents)},
	}
	if r.Commitment != "" {
		round.Algorithm = r.Algorithm
	}
	return round, nil
}

func (r *roundRow) settings() (game.Settings, error) {
	var tiers []game.Tier
	if err := json.Unmarshal([]byte(r.Tiers), &tiers); err != nil {
		return game.Settings{}, fmt.Errorf("read tiers of round %s: %w", r.ID, err)
	}
	return game.Settings{
		Title: r.Title, Total: game.Cents(r.TotalCents), Packets: r.Packets,
		Split: game.Split(r.Split), Deal: game.Deal(r.Deal), Tiers: tiers, Pace: game.Pace(r.Pace),
		Cap: r.Cap, Min: game.Cents(r.MinCents), Max: game.Cents(r.MaxCents),
		Countdown: time.Duration(r.CountdownMS) * time.Millisecond, Duration: time.Duration(r.DurationMS) * time.Millisecond,
		DropsPerSecond: r.DropsPerSecond, BombPercent: r.BombPercent, CloseWhenSoldOut: r.CloseWhenSoldOut,
	}, nil
}
