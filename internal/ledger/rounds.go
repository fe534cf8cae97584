package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// active lists the phases in which a round occupies its room.
var active = []game.Phase{game.Countdown, game.Raining}

// CreateRound creates a draft in a room, or returns game.ErrNotFound if there is no such room. The settings must be valid.
func (l *Ledger) CreateRound(ctx context.Context, room string, settings game.Settings, rehearsal bool) (game.Round, error) {
	if _, err := l.Room(ctx, room); err != nil {
		return game.Round{}, fmt.Errorf("create round: %w", err)
	}
	row := newDraftRow(uuid.NewString(), room, settings, rehearsal, l.now())
	if _, err := l.write.NewInsert().Model(row).Exec(ctx); err != nil {
		return game.Round{}, fmt.Errorf("create round: %w", err)
	}
	return row.round(), nil
}

// Round returns the round with this id, or game.ErrNotFound.
func (l *Ledger) Round(ctx context.Context, id string) (game.Round, error) {
	round, err := readRound(ctx, l.read, id)
	if err != nil {
		return game.Round{}, fmt.Errorf("read round %s: %w", id, err)
	}
	return round, nil
}

// LastRound returns the round that the pages of a room show: the active one, else the one that was begun last, but never a draft.
// Rehearsals count too. game.ErrNotFound: no round of the room was begun yet.
func (l *Ledger) LastRound(ctx context.Context, room string) (game.Round, error) {
	row := new(roundRow)
	// The last begun one may not be the active one, since begun_at comes from the clocks of several instances.
	current := l.read.NewSelect().Model((*roomRow)(nil)).Column("active_round").Where("code = ?", room)
	err := l.read.NewSelect().Model(row).Where("id = COALESCE((?), (?))", current, l.begun(room).Column("id").Limit(1)).Scan(ctx)
	if err != nil {
		return game.Round{}, fmt.Errorf("read last round of room %s: %w", room, mapNoRows(err))
	}
	return row.round(), nil
}

// begun selects the rounds of a room that were begun, the last begun first.
func (l *Ledger) begun(room string) *bun.SelectQuery {
	return l.read.NewSelect().Model((*roundRow)(nil)).Where("room = ?", room).Where("begun_at > 0").Order("begun_at DESC", "id DESC")
}

// OpenRounds returns all rounds in countdown or raining, of all rooms, frozen ones too, in the order of their ids.
func (l *Ledger) OpenRounds(ctx context.Context) ([]game.Round, error) {
	var rows []roundRow
	err := l.read.NewSelect().Model(&rows).Where("phase IN (?)", bun.List(active)).Order("id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read open rounds: %w", err)
	}
	return toRounds(rows), nil
}

func toRounds(rows []roundRow) []game.Round {
	rounds := make([]game.Round, len(rows))
	for i := range rows {
		rounds[i] = rows[i].round()
	}
	return rounds
}

func readRound(ctx context.Context, db bun.IDB, id string) (game.Round, error) {
	row := new(roundRow)
	if err := db.NewSelect().Model(row).Where("id = ?", id).Scan(ctx); err != nil {
		return game.Round{}, mapNoRows(err)
	}
	return row.round(), nil
}

// Drafts returns up to limit drafts of a room, in the order in which they are to be played.
func (l *Ledger) Drafts(ctx context.Context, room string, limit int) ([]game.Round, error) {
	var rows []roundRow
	err := l.read.NewSelect().Model(&rows).Where("room = ?", room).Where("phase = ?", game.Draft).
		Order("place", "id").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read drafts of room %s: %w", room, err)
	}
	return toRounds(rows), nil
}

// BegunRounds returns up to limit rounds of a room that were begun, the last begun first: those after the round with the id
// after in this order, or from the start if it is empty. game.ErrNotFound: there is no round after.
func (l *Ledger) BegunRounds(ctx context.Context, room, after string, limit int) ([]game.Round, error) {
	var rows []roundRow
	query, err := l.begunAfter(ctx, room, after)
	if err == nil {
		err = query.Limit(int64(limit)).Scan(ctx, &rows)
	}
	if err != nil {
		return nil, fmt.Errorf("read begun rounds of room %s: %w", room, err)
	}
	return toRounds(rows), nil
}

// begunAfter selects the rounds of begun that come after a round.
func (l *Ledger) begunAfter(ctx context.Context, room, after string) (*bun.SelectQuery, error) {
	query := l.begun(room)
	if after == "" {
		return query, nil
	}
	last := new(roundRow)
	if err := l.read.NewSelect().Model(last).Column("begun_at").Where("id = ?", after).Where("room = ?", room).Scan(ctx); err != nil {
		return nil, mapNoRows(err)
	}
	return query.Where("begun_at <= ?", last.BegunAt).Where("(begun_at < ? OR id < ?)", last.BegunAt, after), nil
}

// PlayedRounds returns up to limit rounds that a room has played to their end, the last begun first, without rehearsals and
// cancelled rounds.
func (l *Ledger) PlayedRounds(ctx context.Context, room string, limit int) ([]game.Round, error) {
	var rows []roundRow
	over := []game.Phase{game.Closed, game.Settled}
	err := l.begun(room).Where("phase IN (?)", bun.List(over)).Where("rehearsal = ?", false).Where("reason <> ?", game.Cancelled).
		Limit(int64(limit)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read played rounds of room %s: %w", room, err)
	}
	return toRounds(rows), nil
}

// NextPlanned returns the draft of a room that starts by itself soonest, never a rehearsal; game.ErrNotFound: none does.
func (l *Ledger) NextPlanned(ctx context.Context, room string) (game.Round, error) {
	row := new(roundRow)
	err := l.read.NewSelect().Model(row).Where("room = ?", room).Where("phase = ?", game.Draft).Where("starts_on > 0").
		Where("rehearsal = ?", false).Order("starts_on").Limit(1).Scan(ctx)
	if err != nil {
		return game.Round{}, fmt.Errorf("read the next planned round of room %s: %w", room, mapNoRows(err))
	}
	return row.round(), nil
}

type roundRow struct {
	bun.BaseModel `bun:"table:rounds"`

	ID   string `bun:"id,pk"`
	Room string `bun:"room"`

	game.Settings

	Rehearsal      bool   `bun:"rehearsal"`
	Phase          string `bun:"phase"`
	Reason         string `bun:"reason"`
	Frozen         bool   `bun:"frozen"`
	FreezeReason   string `bun:"freeze_reason"`
	FreezeVersion  int64  `bun:"freeze_version"`
	Secret         string `bun:"secret"`
	Algorithm      int    `bun:"algorithm"` // a draft has 1, for servers of the release before, which begin it and do not know the column
	Commitment     string `bun:"commitment"`
	StartsAt       int64  `bun:"starts_at"`
	EndsAt         int64  `bun:"ends_at"`
	ClaimedPackets int    `bun:"claimed_packets"`
	ClaimedCents   int64  `bun:"claimed_cents"`
	CreatedAt      int64  `bun:"created_at"`
	BegunAt        int64  `bun:"begun_at"`
	ClosedAt       int64  `bun:"closed_at"`
	Place          int64  `bun:"place"`
	StartsOn       int64  `bun:"starts_on"`
	MissedOn       int64  `bun:"missed_on"`
	MissReason     string `bun:"miss_reason"`
}

func newDraftRow(id, room string, s game.Settings, rehearsal bool, now time.Time) *roundRow {
	return &roundRow{
		ID: id, Room: room, Settings: s, Rehearsal: rehearsal, Phase: string(game.Draft), Algorithm: game.AmountsAlgorithm,
		CreatedAt: now.UnixMilli(), Place: now.UnixMilli(),
	}
}

func (r *roundRow) round() game.Round {
	round := game.Round{
		ID: r.ID, Room: r.Room, Settings: r.Settings,
		Phase: game.Phase(r.Phase), Reason: game.CloseReason(r.Reason), Frozen: r.Frozen,
		FreezeReason: game.FreezeReason(r.FreezeReason), FreezeVersion: r.FreezeVersion, Rehearsal: r.Rehearsal,
		Secret: game.Secret(r.Secret), Commitment: r.Commitment,
		StartsAt: game.Moment(r.StartsAt), EndsAt: game.Moment(r.EndsAt), CreatedAt: time.UnixMilli(r.CreatedAt),
		Place: r.Place, StartsOn: game.Moment(r.StartsOn), MissedOn: game.Moment(r.MissedOn), MissReason: game.MissReason(r.MissReason),
		Claimed: game.Total{Packets: r.ClaimedPackets, Cents: game.Cents(r.ClaimedCents)},
	}
	if r.Commitment != "" {
		round.Algorithm = r.Algorithm
	}
	return round
}
