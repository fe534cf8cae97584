package api

import (
	"context"
	"fmt"
	"slices"
	"time"

	"redrain/internal/game"
)

const stageCode = "STAGE2"

func (b *books) RoomSummaries(_ context.Context, after string, limit int) ([]game.RoomSummary, error) {
	first := 1 + slices.IndexFunc(b.rooms, func(r game.Room) bool { return r.Code == after })
	if after != "" && first == 0 {
		return nil, fmt.Errorf("read: %w", game.ErrNotFound)
	}
	var list []game.RoomSummary
	for _, room := range b.rooms[first:min(first+limit, len(b.rooms))] {
		list = append(list, game.RoomSummary{Room: room, Players: len(b.players), Drafts: 1, Played: 2, Given: 1505, Active: roundA})
	}
	return list, b.enter()
}

func (b *books) SetAccessPolicy(_ context.Context, _ string, locked, appOnly bool) (game.Room, error) {
	b.changed++
	b.rooms[0].Locked, b.rooms[0].AppOnly = locked, appOnly
	return b.rooms[0], b.enter()
}

func (b *books) Stage(_ context.Context, code string) (game.Room, error) {
	return game.Room{Code: stageCode, Locked: true, StageOf: code}, b.enter()
}

func (b *books) CreateRounds(_ context.Context, room string, settings []game.Settings) ([]game.Round, error) {
	b.changed++
	made := make([]game.Round, len(settings))
	for i, s := range settings {
		made[i] = game.Round{ID: fmt.Sprintf("%08d-2222-4333-8444-555555555555", i), Room: room, Phase: game.Draft, Settings: s, Place: int64(i)}
	}
	return made, b.enter()
}

func (b *books) OrderDrafts(_ context.Context, _ string, ids []string) error {
	b.changed++
	b.ordered = ids
	return b.enter()
}

func (b *books) PlanStart(_ context.Context, id string, on game.Moment) (game.Round, error) {
	b.changed++
	round, err := b.Round(context.Background(), id)
	round.StartsOn = on
	return round, err
}

func (b *books) ChangeDraft(_ context.Context, id string, s game.Settings) (game.Round, error) {
	b.changed++
	round, err := b.Round(context.Background(), id)
	if err == nil && round.Phase != game.Draft {
		return round, fmt.Errorf("change: %w", game.ErrWrongPhase)
	}
	round.Settings = s
	return round, err
}

func (b *books) DropDraft(_ context.Context, id string) error {
	b.changed++
	round, err := b.Round(context.Background(), id)
	if err == nil && round.Phase != game.Draft {
		return fmt.Errorf("drop: %w", game.ErrWrongPhase)
	}
	return err
}

// Guests are listed by a ledger in their own tests; here all are there.
func (b *books) Guests(_ context.Context, _ string, query game.GuestQuery) (game.GuestPage, error) {
	b.guests = query
	newest := slices.Clone(b.players)
	slices.Reverse(newest)
	return game.GuestPage{Players: newest}, b.enter()
}

func (b *books) CountGuests(context.Context, string, int64) (game.GuestCount, error) {
	return game.GuestCount{Total: len(b.players), Latest: game.GuestMark{At: 7, Older: 1}}, b.enter()
}

func (b *books) change(id string, change func(*game.Player)) (game.Player, error) {
	b.changed++
	i := slices.IndexFunc(b.players, func(p game.Player) bool { return p.ID == id })
	if i < 0 {
		return game.Player{}, fmt.Errorf("change: %w", game.ErrNotFound)
	}
	change(&b.players[i])
	return b.players[i], b.enter()
}

func (b *books) RenamePlayer(_ context.Context, _, id, nickname string) (game.Player, error) {
	return b.change(id, func(p *game.Player) { p.Nickname = nickname })
}

func (b *books) BlockPlayer(_ context.Context, _, id string, blocked bool) (game.Player, error) {
	return b.change(id, func(p *game.Player) { p.Blocked = blocked })
}

func (b *books) PlayerOfSubject(_ context.Context, _, subject string) (game.Player, error) {
	return find(b.players, func(p game.Player) bool { return p.Subject == subject })
}

func (b *books) AddSubject(_ context.Context, room, subject, nickname string) (game.Player, error) {
	b.changed++
	b.players = append(b.players, game.Player{ID: newcomer, Room: room, Nickname: nickname, Subject: subject})
	return b.players[len(b.players)-1], b.enter()
}

func (b *books) PlayedBy(_ context.Context, _ string, limit int) ([]game.PlayedRound, error) {
	return []game.PlayedRound{{Round: b.rounds[1], Packets: 2, Cents: 1500}}[:min(1, limit)], b.enter()
}

func (b *books) Balance(context.Context, string) (game.Cents, error) { return 1500, b.enter() }

func (b *books) PublishNotice(_ context.Context, room string, notice []byte) error {
	b.told = append(b.told, room+" "+string(notice))
	return b.enter()
}

func (b *books) NotifyHosts(_ context.Context, room, code string) error {
	b.told = append(b.told, room+" "+code)
	return nil
}

func (b *books) PublishAccessChanged(_ context.Context, room string) error {
	b.told = append(b.told, room+" doors")
	return nil
}

func (b *books) Rehearse(_ context.Context, room string, _ game.Settings, players int, rate float64) (game.Rehearsal, error) {
	b.changed++
	return game.Rehearsal{Round: unknown, Room: room, Players: players, Rate: rate, State: game.RehearsalRunning, BegunAt: time.UnixMilli(5)}, b.enter()
}

func (b *books) Rehearsals(context.Context, string) ([]game.Rehearsal, error) {
	return []game.Rehearsal{{
		Round: unknown, Players: 20, Rate: 2, State: game.RehearsalDone, BegunAt: time.UnixMilli(5), Report: []byte(`{"taps":7}`),
	}}, b.enter()
}
