package ledger_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

func TestRoundIsReadAsItWasMade(t *testing.T) {
	tiers := game.Settings{
		Title: "第一场 'x'", Total: 1_070, Packets: 12, Split: game.SplitDealt, Deal: game.DealTiers,
		Tiers: []game.Tier{{Packets: 10, Cents: 88}, {Packets: 2, Cents: 95}}, Pace: game.PaceBurst, Cap: 3, Min: 2, Max: 100,
		Countdown: 1500 * time.Millisecond, Duration: 3 * time.Second, DropsPerSecond: 40, BombPercent: 50,
	}
	largest := someSettings()
	largest.Total, largest.Packets = game.MaxTotal, game.MaxPackets
	onEach(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithClock(ticking()))
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
	onEach(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		if _, err := l.CreateRound(t.Context(), "NOROOM", someSettings(), false); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("a round without a room: %v", err)
		}
		if _, err := l.Round(t.Context(), "no round"); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("an unknown round: %v", err)
		}
	})
}

func TestRoundsAreNewestFirst(t *testing.T) {
	onEach(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithClock(ticking()))
		room, other := newRoom(t, l), newRoom(t, l)
		a, b := newRound(t, l, room), newRound(t, l, room)
		newRound(t, l, other)
		got := must[[]game.Round](t)(l.Rounds(t.Context(), room))
		if len(got) != 2 || got[0].ID != b.ID || got[1].ID != a.ID {
			t.Errorf("rounds are %v", got)
		}
	})
}

func TestLastRoundIsTheActiveOneElseTheLastBegunNeverADraft(t *testing.T) {
	onEach(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithClock(ticking()))
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
	onEach(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
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
	return must[game.Round](t)(l.NoteClosed(t.Context(), id, reason, game.Left{}))
}
