package api

import (
	"context"
	"fmt"
	"slices"

	"redrain/internal/game"
	"redrain/internal/wire"
)

const (
	code     = "RAXN88"
	roundA   = "11111111-2222-4333-8444-555555555555"
	draftB   = "22222222-2222-4333-8444-555555555555"
	unknown  = "99999999-2222-4333-8444-555555555555"
	playerA  = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
	playerB  = "bbbbbbbb-bbbb-4ccc-8ddd-eeeeeeeeeeee"
	newcomer = "cccccccc-bbbb-4ccc-8ddd-eeeeeeeeeeee"
)

// books is all that a server asks, in memory: one room with a raining round, a draft and two players. It counts what was
// changed, so that a test can see that nothing was.
type books struct {
	rooms   []game.Room
	rounds  []game.Round
	players []game.Player
	claims  []game.Claim
	changed int
	fail    error // returned by everything, if set
	during  func()
	told    []string        // what was said to pages and instances
	ordered []string        // ids of drafts
	guests  game.GuestQuery // the last one
	ranked  int             // how often ranks were asked for
}

func newBooks() *books {
	settings := game.DefaultSettings()
	settings.Title, settings.Total, settings.Packets, settings.Cap = "年会", 88800, 100, 3
	return &books{
		rooms: []game.Room{{Code: code, Name: "年会"}},
		rounds: []game.Round{
			{ID: draftB, Room: code, Phase: game.Draft, Settings: settings},
			{ID: roundA, Room: code, Phase: game.Raining, Settings: settings, Secret: "5ec2e7", Algorithm: 2, Commitment: "c0"},
		},
		players: []game.Player{{ID: playerA, Room: code, Nickname: "小明"}, {ID: playerB, Room: code, Nickname: "Bob"}},
		claims: []game.Claim{
			{Number: 1, Player: playerA, Drop: 9, Cents: 888},
			{Number: 2, Player: playerB, Drop: 9, Cents: 5},
			{Number: 3, Player: playerA, Drop: 17, Cents: 612},
		},
	}
}

func (b *books) enter() error {
	if b.during != nil {
		b.during()
	}
	return b.fail
}

func find[T any](list []T, is func(T) bool) (T, error) {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i], nil
	}
	var none T
	return none, fmt.Errorf("read: %w", game.ErrNotFound)
}

func (b *books) CreateRoom(_ context.Context, name string) (game.Room, error) {
	b.changed++
	return game.Room{Code: "NEWRXX", Name: name}, b.enter()
}

func (b *books) Room(_ context.Context, code string) (game.Room, error) {
	if err := b.enter(); err != nil {
		return game.Room{}, err
	}
	return find(b.rooms, func(r game.Room) bool { return r.Code == code })
}

func (b *books) AddPlayer(_ context.Context, room, nickname string) (game.Player, error) {
	b.changed++
	return game.Player{ID: newcomer, Room: room, Nickname: nickname}, b.enter()
}

func (b *books) Player(_ context.Context, id string) (game.Player, error) {
	return find(b.players, func(p game.Player) bool { return p.ID == id })
}

func (b *books) Nicknames(_ context.Context, ids []string) (map[string]string, error) {
	names := map[string]string{}
	for _, p := range b.players {
		if slices.Contains(ids, p.ID) {
			names[p.ID] = p.Nickname
		}
	}
	return names, b.enter()
}

func (b *books) Create(_ context.Context, room string, s game.Settings, rehearsal bool) (game.Round, error) {
	b.changed++
	return game.Round{ID: unknown, Room: room, Phase: game.Draft, Settings: s, Rehearsal: rehearsal}, b.enter()
}

func (b *books) step(id string, phase game.Phase, reason game.CloseReason) (game.Round, error) {
	b.changed++
	if err := b.enter(); err != nil {
		return game.Round{}, fmt.Errorf("start: %w", err)
	}
	round, err := b.Round(context.Background(), id)
	round.Phase, round.Reason = phase, reason
	return round, err
}

func (b *books) Start(_ context.Context, id string) (game.Round, error) {
	return b.step(id, game.Countdown, "")
}

func (b *books) Stop(_ context.Context, id string) (game.Round, error) {
	return b.step(id, game.Closed, game.Stopped)
}

func (b *books) Cancel(_ context.Context, id string) (game.Round, error) {
	return b.step(id, game.Closed, game.Cancelled)
}

func (b *books) Round(_ context.Context, id string) (game.Round, error) {
	return find(b.rounds, func(r game.Round) bool { return r.ID == id })
}

func (b *books) LastRound(_ context.Context, room string) (game.Round, error) {
	return find(b.rounds, func(r game.Round) bool { return r.Room == room && r.Phase != game.Draft })
}

// some are up to limit rounds with what is asked for, after one.
func (b *books) some(after string, limit int, is func(game.Round) bool) ([]game.Round, error) {
	var list []game.Round
	for _, round := range b.rounds {
		switch {
		case round.ID == after:
			after = ""
		case after == "" && is(round) && len(list) < limit:
			list = append(list, round)
		}
	}
	if after != "" {
		return nil, fmt.Errorf("read: %w", game.ErrNotFound)
	}
	return list, b.enter()
}

func (b *books) Drafts(_ context.Context, _ string, limit int) ([]game.Round, error) {
	return b.some("", limit, func(r game.Round) bool { return r.Phase == game.Draft })
}

func (b *books) BegunRounds(_ context.Context, _, after string, limit int) ([]game.Round, error) {
	return b.some(after, limit, func(r game.Round) bool { return r.Phase != game.Draft })
}

func (b *books) PlayedRounds(_ context.Context, _ string, limit int) ([]game.Round, error) {
	return b.some("", limit, func(r game.Round) bool { return r.Phase.Over() })
}

func (b *books) NextPlanned(context.Context, string) (game.Round, error) {
	return find(b.rounds, func(r game.Round) bool { return r.Phase == game.Draft && r.StartsOn > 0 })
}

func (b *books) Claims(_ context.Context, _ string, after, limit int) ([]game.Claim, error) {
	rest := b.claims[min(after, len(b.claims)):]
	return rest[:min(limit, len(rest))], b.enter()
}

func (b *books) ClaimsOf(_ context.Context, _ string, players ...string) (map[string][]game.Claim, error) {
	claims := map[string][]game.Claim{}
	for _, claim := range b.claims {
		if slices.Contains(players, claim.Player) {
			claims[claim.Player] = append(claims[claim.Player], claim)
		}
	}
	return claims, b.enter()
}

func (b *books) Tally(_ context.Context, round game.Round) (wire.Tally, error) {
	return wire.Tally{Round: round.ID, Online: 2, ClaimedPackets: 3, ClaimedCents: 1505}, b.enter()
}

func (b *books) FinalRanks(context.Context, string) ([]string, error) {
	b.ranked++
	return []string{playerA, playerB}, b.enter()
}
