package ledger_test

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

func TestRoundIsReadAsItWasMade(t *testing.T) {
	tiers := game.Settings{
		Title: "第一场 'x'", Total: 1_070, Packets: 12, Split: game.SplitDealt, Deal: game.DealTiers,
		Tiers: []game.Tier{{Packets: 10, Cents: 88}, {Packets: 2, Cents: 95}}, Pace: game.PaceBurst, Cap: 3, Min: 2, Max: 100,
		Countdown: 1500, Duration: 3000, DropsPerSecond: 40, BombPercent: 50,
	}
	largest := someSettings()
	largest.Total, largest.Packets = game.MaxTotal, game.MaxPackets
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithClock(newTickingClock()))
		room := newRoom(t, l)
		for _, settings := range []game.Settings{someSettings(), tiers, largest} {
			made := must[game.Round](t)(l.CreateRound(t.Context(), room, settings, settings.Cap == 3))
			if !reflect.DeepEqual(made.Settings, settings) || made.Phase != game.Draft || made.Rehearsal != (settings.Cap == 3) {
				t.Errorf("made %+v of %+v", made, settings)
			}
			if got := must[game.Round](t)(open().Round(t.Context(), made.ID)); !reflect.DeepEqual(got, made) {
				t.Errorf("made %+v, read %+v", made, got)
			}
		}
	})
}

func TestRoundsNeedARoom(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		if _, err := l.CreateRound(t.Context(), "NOROOM", someSettings(), false); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("a round without a room: %v", err)
		}
		if _, err := l.Round(t.Context(), "no round"); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("an unknown round: %v", err)
		}
	})
}

func TestARoomsRoundsAreListedByWhatTheyAreFor(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithClock(newTickingClock()))
		room, other := newRoom(t, l), newRoom(t, l)
		settle(t, l, begin(t, l, newRound(t, l, other).ID).ID, game.Total{}, 88_800)
		draft, planned, later := newRound(t, l, room), newRound(t, l, room), newRound(t, l, room)
		var begun []string
		for range 4 {
			round := newRound(t, l, room)
			if begun = append([]string{round.ID}, begun...); len(begun) < 4 {
				begin(t, l, round.ID)
				closeRound(t, l, round.ID, []game.CloseReason{game.ByTime, game.Cancelled, game.Stopped}[len(begun)-1])
			}
		}
		must[game.Round](t)(l.PlanStart(t.Context(), begun[0], 500)) // it is begun before
		begin(t, l, begun[0])
		must[game.Round](t)(l.CreateRound(t.Context(), room, someSettings(), true))
		if _, err := l.NextPlanned(t.Context(), room); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("nothing is planned: %v", err)
		}
		must[game.Round](t)(l.PlanStart(t.Context(), later.ID, 2000))
		must[game.Round](t)(l.PlanStart(t.Context(), planned.ID, 1000))
		if next := must[game.Round](t)(l.NextPlanned(t.Context(), room)); next.ID != planned.ID {
			t.Errorf("the next is %v", next)
		}
		wantIDs(t, "drafts", must[[]game.Round](t)(l.Drafts(t.Context(), room, 3)), draft.ID, planned.ID, later.ID)
		wantIDs(t, "begun", must[[]game.Round](t)(l.BegunRounds(t.Context(), room, "", 3)), begun[:3]...)
		wantIDs(t, "begun before them", must[[]game.Round](t)(l.BegunRounds(t.Context(), room, begun[2], 3)), begun[3])
		wantIDs(t, "played", must[[]game.Round](t)(l.PlayedRounds(t.Context(), room, 10)), begun[1], begun[3])
		wantIDs(t, "played last", must[[]game.Round](t)(l.PlayedRounds(t.Context(), room, 1)), begun[1])
		if _, err := l.BegunRounds(t.Context(), other, begun[0], 3); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("after a round of another room: %v", err)
		}
	})
}

func wantIDs(t *testing.T, what string, rounds []game.Round, want ...string) {
	t.Helper()
	got := make([]string, len(rounds))
	for i, round := range rounds {
		got[i] = round.ID
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s are %v, want %v", what, got, want)
	}
}

// Rounds that began at the same moment are paged without one left out or told twice.
func TestRoundsOfOneMomentArePagedOnce(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithClock(func() time.Time { return time.UnixMilli(1_800_000_000_000) }))
		room := newRoom(t, l)
		seen := map[string]bool{}
		for range 5 {
			round := newRound(t, l, room)
			begin(t, l, round.ID)
			closeRound(t, l, round.ID, game.ByTime)
			seen[round.ID] = false
		}
		after := ""
		for range 3 {
			page := must[[]game.RoundBooks](t)(l.RoomBooks(t.Context(), room, after, 2))
			for _, books := range page {
				if told, known := seen[books.Round.ID]; told || !known {
					t.Errorf("round %s is told again", books.Round.ID)
				}
				seen[books.Round.ID], after = true, books.Round.ID
			}
		}
		if got := must[[]game.RoundBooks](t)(l.RoomBooks(t.Context(), room, after, 2)); len(got) > 0 || slices.Contains(slices.Collect(maps.Values(seen)), false) {
			t.Errorf("told are %v, then %v", seen, got)
		}
	})
}

func TestLastRoundIsTheActiveOneElseTheLastBegunNeverADraft(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithClock(newTickingClock()))
		room, other := newRoom(t, l), newRoom(t, l)
		begin(t, l, newRound(t, l, other).ID)
		if _, err := l.LastRound(t.Context(), room); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("a room without rounds: %v", err)
		}
		first, second := newRound(t, l, room), newRound(t, l, room)
		if _, err := l.LastRound(t.Context(), room); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("a room with drafts only: %v", err)
		}
		expectLast := func(when string, want game.Round, phase game.Phase) {
			t.Helper()
			got := must[game.Round](t)(l.LastRound(t.Context(), room))
			if got.ID != want.ID || got.Phase != phase {
				t.Errorf("%s: the last round is %s in %s", when, got.ID, got.Phase)
			}
		}
		begin(t, l, second.ID)
		expectLast("second begun", second, game.Countdown)
		closeRound(t, l, second.ID, game.ByTime)
		expectLast("second closed", second, game.Closed)
		behind := open(ledger.WithClock(func() time.Time { return time.UnixMilli(1) })) // an instance whose clock is wrong
		begin(t, behind, first.ID)
		expectLast("first begun by a clock that is behind", first, game.Countdown)
	})
}

func TestOpenRoundsAreThoseInCountdownOrRaining(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		rounds := make([]game.Round, 4)
		for i := range rounds {
			rounds[i] = newRound(t, l, newRoom(t, l))
		}
		want := map[string]game.Phase{}
		for _, round := range rounds[1:] { // the first stays a draft
			begin(t, l, round.ID)
			must[game.Round](t)(l.NoteOpened(t.Context(), round.ID, 1000, 2000))
			want[round.ID] = game.Countdown
		}
		must[game.Round](t)(l.NoteRaining(t.Context(), rounds[2].ID))
		want[rounds[2].ID] = game.Raining
		closeRound(t, l, rounds[3].ID, game.ByTime)
		delete(want, rounds[3].ID)
		got := map[string]game.Phase{}
		for _, round := range must[[]game.Round](t)(l.OpenRounds(t.Context())) {
			got[round.ID] = round.Phase
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("open rounds are %v, want %v", got, want)
		}
	})
}

func begin(t testing.TB, l *ledger.Ledger, id string) game.Round {
	t.Helper()
	return must[game.Round](t)(l.Begin(t.Context(), id, game.NewSecret()))
}

func closeRound(t testing.TB, l *ledger.Ledger, id string, reason game.CloseReason) game.Round {
	t.Helper()
	return must[game.Round](t)(l.NoteClosed(t.Context(), id, reason, game.Total{}))
}
