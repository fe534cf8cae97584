package api

import (
	"context"
	"fmt"
	"slices"
	"time"

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

// fakeStore implements all dependencies of a server in memory, with one room, a raining round, a draft and two players. It counts
// changes, so that a test can check that there were none.
type fakeStore struct {
	rooms     []game.Room
	rounds    []game.Round
	players   []game.Player
	claims    []game.Claim
	changed   int
	fail      error // returned by everything, if set
	onCall    func()
	published []string        // what was said to pages and instances
	ordered   []string        // ids of drafts
	guests    game.GuestQuery // the last one
	ranked    int             // how often ranks were asked for
}

func newFakeStore() *fakeStore {
	settings := game.DefaultSettings()
	settings.Title, settings.Total, settings.Packets, settings.Cap = "年会", 88800, 100, 3
	return &fakeStore{
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

func (b *fakeStore) record() error {
	if b.onCall != nil {
		b.onCall()
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

func (b *fakeStore) CreateRoom(_ context.Context, name string) (game.Room, error) {
	b.changed++
	return game.Room{Code: "NEWRXX", Name: name}, b.record()
}

func (b *fakeStore) Room(_ context.Context, code string) (game.Room, error) {
	if err := b.record(); err != nil {
		return game.Room{}, err
	}
	return find(b.rooms, func(r game.Room) bool { return r.Code == code })
}

func (b *fakeStore) AddPlayer(_ context.Context, room, nickname string) (game.Player, error) {
	b.changed++
	return game.Player{ID: newcomer, Room: room, Nickname: nickname}, b.record()
}

func (b *fakeStore) Player(_ context.Context, id string) (game.Player, error) {
	return find(b.players, func(p game.Player) bool { return p.ID == id })
}

func (b *fakeStore) HostNicknames(_ context.Context, ids []string) (map[string]string, error) {
	names := map[string]string{}
	for _, p := range b.players {
		if slices.Contains(ids, p.ID) {
			names[p.ID] = p.Nickname
		}
	}
	return names, b.record()
}

func (b *fakeStore) Create(_ context.Context, room string, s game.Settings, rehearsal bool) (game.Round, error) {
	b.changed++
	return game.Round{ID: unknown, Room: room, Phase: game.Draft, Settings: s, Rehearsal: rehearsal}, b.record()
}

func (b *fakeStore) moveRound(id string, phase game.Phase, reason game.CloseReason) (game.Round, error) {
	b.changed++
	if err := b.record(); err != nil {
		return game.Round{}, fmt.Errorf("start: %w", err)
	}
	round, err := b.Round(context.Background(), id)
	round.Phase, round.Reason = phase, reason
	return round, err
}

func (b *fakeStore) Start(_ context.Context, id string) (game.Round, error) {
	return b.moveRound(id, game.Countdown, "")
}

func (b *fakeStore) Stop(_ context.Context, id string) (game.Round, error) {
	return b.moveRound(id, game.Closed, game.Stopped)
}

func (b *fakeStore) Cancel(_ context.Context, id string) (game.Round, error) {
	return b.moveRound(id, game.Closed, game.Cancelled)
}

func (b *fakeStore) Round(_ context.Context, id string) (game.Round, error) {
	return find(b.rounds, func(r game.Round) bool { return r.ID == id })
}

func (b *fakeStore) LastRound(_ context.Context, room string) (game.Round, error) {
	return find(b.rounds, func(r game.Round) bool { return r.Room == room && r.Phase != game.Draft })
}

// filterRounds returns up to limit rounds that match, after the round with the id after.
func (b *fakeStore) filterRounds(after string, limit int, is func(game.Round) bool) ([]game.Round, error) {
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
	return list, b.record()
}

func (b *fakeStore) Drafts(_ context.Context, _ string, limit int) ([]game.Round, error) {
	return b.filterRounds("", limit, func(r game.Round) bool { return r.Phase == game.Draft })
}

func (b *fakeStore) BegunRounds(_ context.Context, _, after string, limit int) ([]game.Round, error) {
	return b.filterRounds(after, limit, func(r game.Round) bool { return r.Phase != game.Draft })
}

func (b *fakeStore) PlayedRounds(_ context.Context, _ string, limit int) ([]game.Round, error) {
	return b.filterRounds("", limit, func(r game.Round) bool { return r.Phase.Over() })
}

func (b *fakeStore) NextPlanned(context.Context, string) (game.Round, error) {
	return find(b.rounds, func(r game.Round) bool { return r.Phase == game.Draft && r.StartsOn > 0 })
}

func (b *fakeStore) Claims(_ context.Context, _ string, after, limit int) ([]game.Claim, error) {
	rest := b.claims[min(after, len(b.claims)):]
	return rest[:min(limit, len(rest))], b.record()
}

func (b *fakeStore) ClaimsOf(_ context.Context, _ string, players ...string) (map[string][]game.Claim, error) {
	claims := map[string][]game.Claim{}
	for _, claim := range b.claims {
		if slices.Contains(players, claim.Player) {
			claims[claim.Player] = append(claims[claim.Player], claim)
		}
	}
	return claims, b.record()
}

func (b *fakeStore) Tally(_ context.Context, round game.Round) (wire.Tally, error) {
	return wire.Tally{Round: round.ID, Online: 2, ClaimedPackets: 3, ClaimedCents: 1505}, b.record()
}

func (b *fakeStore) FinalRanks(context.Context, string) ([]string, error) {
	b.ranked++
	return []string{playerA, playerB}, b.record()
}

const stageCode = "STAGE2"

func (b *fakeStore) RoomSummaries(_ context.Context, after string, limit int) ([]game.RoomSummary, error) {
	first := 1 + slices.IndexFunc(b.rooms, func(r game.Room) bool { return r.Code == after })
	if after != "" && first == 0 {
		return nil, fmt.Errorf("read: %w", game.ErrNotFound)
	}
	var list []game.RoomSummary
	for _, room := range b.rooms[first:min(first+limit, len(b.rooms))] {
		list = append(list, game.RoomSummary{Room: room, Players: len(b.players), Drafts: 1, Played: 2, Given: 1505, Active: roundA})
	}
	return list, b.record()
}

func (b *fakeStore) SetAccessPolicy(_ context.Context, _ string, locked, appOnly bool) (game.Room, error) {
	b.changed++
	b.rooms[0].Locked, b.rooms[0].AppOnly = locked, appOnly
	return b.rooms[0], b.record()
}

func (b *fakeStore) Stage(_ context.Context, code string) (game.Room, error) {
	return game.Room{Code: stageCode, Locked: true, StageOf: code}, b.record()
}

func (b *fakeStore) CreateRounds(_ context.Context, room string, settings []game.Settings) ([]game.Round, error) {
	b.changed++
	made := make([]game.Round, len(settings))
	for i, s := range settings {
		made[i] = game.Round{ID: fmt.Sprintf("%08d-2222-4333-8444-555555555555", i), Room: room, Phase: game.Draft, Settings: s, Place: int64(i)}
	}
	return made, b.record()
}

func (b *fakeStore) OrderDrafts(_ context.Context, _ string, ids []string) error {
	b.changed++
	b.ordered = ids
	return b.record()
}

func (b *fakeStore) PlanStart(_ context.Context, id string, on game.Moment) (game.Round, error) {
	b.changed++
	round, err := b.Round(context.Background(), id)
	round.StartsOn = on
	return round, err
}

func (b *fakeStore) ChangeDraft(_ context.Context, id string, s game.Settings) (game.Round, error) {
	b.changed++
	round, err := b.Round(context.Background(), id)
	if err == nil && round.Phase != game.Draft {
		return round, fmt.Errorf("change: %w", game.ErrWrongPhase)
	}
	round.Settings = s
	return round, err
}

func (b *fakeStore) DropDraft(_ context.Context, id string) error {
	b.changed++
	round, err := b.Round(context.Background(), id)
	if err == nil && round.Phase != game.Draft {
		return fmt.Errorf("drop: %w", game.ErrWrongPhase)
	}
	return err
}

// Guests returns all players; players_list_test.go tests paging with a real ledger.
func (b *fakeStore) Guests(_ context.Context, _ string, query game.GuestQuery) (game.GuestPage, error) {
	b.guests = query
	newest := slices.Clone(b.players)
	slices.Reverse(newest)
	return game.GuestPage{Players: newest}, b.record()
}

func (b *fakeStore) CountGuests(context.Context, string, int64) (game.GuestCount, error) {
	return game.GuestCount{Total: len(b.players), Latest: game.GuestMark{At: 7, Older: 1}}, b.record()
}

func (b *fakeStore) changePlayer(id string, change func(*game.Player)) (game.Player, error) {
	b.changed++
	i := slices.IndexFunc(b.players, func(p game.Player) bool { return p.ID == id })
	if i < 0 {
		return game.Player{}, fmt.Errorf("change: %w", game.ErrNotFound)
	}
	change(&b.players[i])
	return b.players[i], b.record()
}

func (b *fakeStore) RenamePlayer(_ context.Context, _, id, nickname string) (game.Player, error) {
	return b.changePlayer(id, func(p *game.Player) { p.Nickname = nickname })
}

func (b *fakeStore) BlockPlayer(_ context.Context, _, id string, blocked bool) (game.Player, error) {
	return b.changePlayer(id, func(p *game.Player) { p.Blocked = blocked })
}

func (b *fakeStore) PlayerOfSubject(_ context.Context, _, subject string) (game.Player, error) {
	return find(b.players, func(p game.Player) bool { return p.Subject == subject })
}

func (b *fakeStore) AddSubject(_ context.Context, room, subject, nickname string) (game.Player, error) {
	b.changed++
	b.players = append(b.players, game.Player{ID: newcomer, Room: room, Nickname: nickname, Subject: subject})
	return b.players[len(b.players)-1], b.record()
}

func (b *fakeStore) PlayedBy(_ context.Context, _ string, limit int) ([]game.PlayedRound, error) {
	return []game.PlayedRound{{Round: b.rounds[1], Packets: 2, Cents: 1500}}[:min(1, limit)], b.record()
}

func (b *fakeStore) Balance(context.Context, string) (game.Cents, error) { return 1500, b.record() }

func (b *fakeStore) PublishNotice(_ context.Context, room string, notice game.Notice) error {
	b.published = append(b.published, room+" "+string(notice.Code)+" "+notice.Text)
	return b.record()
}

func (b *fakeStore) NotifyHosts(_ context.Context, room string, code game.NoticeCode) error {
	b.published = append(b.published, room+" "+string(code))
	return nil
}

func (b *fakeStore) PublishAccessChanged(_ context.Context, room string) error {
	b.published = append(b.published, room+" doors")
	return nil
}

func (b *fakeStore) Rehearse(_ context.Context, room string, _ game.Settings, players int, rate float64) (game.Rehearsal, error) {
	b.changed++
	return game.Rehearsal{Round: unknown, Room: room, Players: players, Rate: rate, State: game.RehearsalRunning, BegunAt: time.UnixMilli(5)}, b.record()
}

func (b *fakeStore) Rehearsals(context.Context, string) ([]game.Rehearsal, error) {
	return []game.Rehearsal{{
		Round: unknown, Players: 20, Rate: 2, State: game.RehearsalDone, BegunAt: time.UnixMilli(5), Report: []byte(`{"taps":7}`),
	}}, b.record()
}
