package ledger_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

func TestBeginStoresTheFirstSecretAndItsCommitment(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		draft := newRound(t, l, newRoom(t, l))
		secret := game.NewSecret()
		first := must[game.Round](t)(l.Begin(t.Context(), draft.ID, secret))
		if first.Phase != game.Countdown || first.Secret != secret || first.StartsAt != 0 {
			t.Errorf("begun: %s, starts at %d, its own secret: %t", first.Phase, first.StartsAt, first.Secret == secret)
		}
		if first.Algorithm != game.Algorithm || first.Commitment != game.Commitment(game.Algorithm, draft, secret) {
			t.Errorf("algorithm %d with the commitment %s, which is not that of the secret", first.Algorithm, first.Commitment)
		}
		again := must[game.Round](t)(open().Begin(t.Context(), draft.ID, game.NewSecret()))
		if !reflect.DeepEqual(again, first) {
			t.Errorf("begun again, the round differs in phase (%s), secret, algorithm or commitment", again.Phase)
		}
	})
}

// A second click of the host, from another window, must not start the round twice: fifty starts over two instances agree on one
// secret.
func TestFiftyStartsOfOneRoundAgreeOnOneSecret(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		instances := []*ledger.Ledger{open(), open()}
		draft := newRound(t, instances[0], newRoom(t, instances[0]))
		got := make([]game.Round, 50)
		runConcurrently(len(got), func(i int) {
			var err error
			if got[i], err = instances[i%2].Begin(t.Context(), draft.ID, game.NewSecret()); err != nil {
				t.Error(err)
			}
		})
		for i := range got {
			if got[i].Secret == "" || got[i].Secret != got[0].Secret || got[i].Commitment != got[0].Commitment {
				t.Fatalf("start %d has another secret than start 0", i)
			}
		}
	})
}

// Two hosts start two rounds of one room at once. Exactly one begins; the other host gets game.ErrRoomBusy.
func TestTwoHostsAtOnceBeginOneRound(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		instances := []*ledger.Ledger{open(), open()}
		for range 10 {
			room := newRoom(t, instances[0])
			rounds := []game.Round{newRound(t, instances[0], room), newRound(t, instances[0], room)}
			var won, busy atomic.Int32
			runConcurrently(2, func(i int) {
				switch _, err := instances[i].Begin(t.Context(), rounds[i].ID, game.NewSecret()); {
				case err == nil:
					won.Add(1)
				case errors.Is(err, game.ErrRoomBusy):
					busy.Add(1)
				default:
					t.Error(err)
				}
			})
			if won.Load() != 1 || busy.Load() != 1 {
				t.Fatalf("%d rounds were begun, %d refused", won.Load(), busy.Load())
			}
		}
	})
}

func TestARoomIsFreeAgainWhenItsRoundCloses(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		room := newRoom(t, l)
		rehearsal := must[game.Round](t)(l.CreateRound(t.Context(), room, someSettings(), true))
		next := newRound(t, l, room)
		begin(t, l, rehearsal.ID)
		if _, err := l.Begin(t.Context(), next.ID, game.NewSecret()); !errors.Is(err, game.ErrRoomBusy) {
			t.Errorf("a rehearsal does not hold its room: %v", err)
		}
		if got := must[game.Round](t)(l.Round(t.Context(), next.ID)); got.Phase != game.Draft || got.Secret != "" {
			t.Errorf("a refused start left the round in %s", got.Phase)
		}
		closeRound(t, l, rehearsal.ID, game.Cancelled)
		begin(t, l, next.ID)
		closeRound(t, l, rehearsal.ID, game.Cancelled) // repeated late, it must not free the next one's room
		if _, err := l.Begin(t.Context(), newRound(t, l, room).ID, game.NewSecret()); !errors.Is(err, game.ErrRoomBusy) {
			t.Errorf("a repeated close freed the room of another round: %v", err)
		}
	})
}

func TestTheFirstNoteOfEachStepWins(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithClock(newTickingClock()))
		id := newRound(t, l, newRoom(t, l)).ID
		begin(t, l, id)
		opened := must[game.Round](t)(l.NoteOpened(t.Context(), id, 10_000, 40_000))
		if opened.StartsAt != 10_000 || opened.EndsAt != 40_000 || opened.Phase != game.Countdown {
			t.Errorf("opened: %s from %d to %d", opened.Phase, opened.StartsAt, opened.EndsAt)
		}
		if again := must[game.Round](t)(l.NoteOpened(t.Context(), id, 11_000, 41_000)); !reflect.DeepEqual(again, opened) {
			t.Errorf("opened again: from %d to %d", again.StartsAt, again.EndsAt)
		}
		raining := must[game.Round](t)(l.NoteRaining(t.Context(), id))
		if raining.Phase != game.Raining {
			t.Errorf("raining is noted as %s", raining.Phase)
		}
		closed := must[game.Round](t)(l.NoteClosed(t.Context(), id, game.BySoldOut, game.Total{Packets: 100, Cents: 88_800}))
		if closed.Phase != game.Closed || closed.Reason != game.BySoldOut || closed.Claimed != (game.Total{Packets: 100, Cents: 88_800}) {
			t.Errorf("closed: %s by %s with %v", closed.Phase, closed.Reason, closed.Claimed)
		}
		for name, late := range map[string]func() (game.Round, error){
			"closed":  func() (game.Round, error) { return l.NoteClosed(t.Context(), id, game.ByTime, game.Total{}) },
			"raining": func() (game.Round, error) { return l.NoteRaining(t.Context(), id) },
			"opened":  func() (game.Round, error) { return l.NoteOpened(t.Context(), id, 1, 2) },
		} {
			if got := must[game.Round](t)(late()); !reflect.DeepEqual(got, closed) {
				t.Errorf("%s noted after the close: %s by %s", name, got.Phase, got.Reason)
			}
		}
		if _, err := l.Begin(t.Context(), id, game.NewSecret()); !errors.Is(err, game.ErrWrongPhase) {
			t.Errorf("a closed round begins again: %v", err)
		}
	})
}

func TestStepsOutOfPlaceAreRefusedAndChangeNothing(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		draft, begun := newRound(t, l, newRoom(t, l)), newRound(t, l, newRoom(t, l))
		begun = begin(t, l, begun.ID)
		refuse := func(want game.Round, wanted error, step func(context.Context, string) (game.Round, error)) {
			t.Helper()
			if _, err := step(t.Context(), want.ID); !errors.Is(err, wanted) {
				t.Errorf("not refused: %v", err)
			}
			if got, err := l.Round(t.Context(), want.ID); err == nil && !reflect.DeepEqual(got, want) {
				t.Errorf("refused, yet the round went to %s", got.Phase)
			}
		}
		opened := func(ctx context.Context, id string) (game.Round, error) { return l.NoteOpened(ctx, id, 1, 2) }
		closed := func(ctx context.Context, id string) (game.Round, error) {
			return l.NoteClosed(ctx, id, game.Stopped, game.Total{})
		}
		frozen := func(ctx context.Context, id string) (game.Round, error) {
			return l.NoteFrozen(ctx, id, game.FrozenByHost)
		}
		for _, step := range []func(context.Context, string) (game.Round, error){opened, l.NoteRaining, closed, frozen} {
			refuse(draft, game.ErrWrongPhase, step)
			refuse(game.Round{ID: "no round"}, game.ErrNotFound, step)
		}
		refuse(begun, game.ErrWrongPhase, l.NoteRaining) // never opened
		tooMuch := func(ctx context.Context, id string) (game.Round, error) {
			return l.NoteClosed(ctx, id, game.Stopped, game.Total{Packets: 101, Cents: 1})
		}
		if _, err := tooMuch(t.Context(), begun.ID); err == nil {
			t.Error("a round closed with more claims than packets")
		}
		if got := must[game.Round](t)(l.Round(t.Context(), begun.ID)); !got.Phase.Active() {
			t.Errorf("the refused close left the round %s", got.Phase)
		}
	})
}

func TestFrozenIsAFlagBesideThePhase(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		room := newRoom(t, l)
		id := begin(t, l, newRound(t, l, room).ID).ID
		for range 2 {
			if got := must[game.Round](t)(l.NoteFrozen(t.Context(), id, game.FrozenByHost)); !got.Frozen || got.Phase != game.Countdown {
				t.Errorf("frozen: %t in %s", got.Frozen, got.Phase)
			}
		}
		if _, err := l.Begin(t.Context(), newRound(t, l, room).ID, game.NewSecret()); !errors.Is(err, game.ErrRoomBusy) {
			t.Errorf("a frozen round does not hold its room: %v", err)
		}
		if got := closeRound(t, l, id, game.Interrupted); !got.Frozen || got.Reason != game.Interrupted {
			t.Errorf("closed: frozen %t by %s", got.Frozen, got.Reason)
		}
	})
}

func TestErrorsDoNotShowTheSecret(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		id := newRound(t, l, newRoom(t, l)).ID
		secret := game.NewSecret()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, gone := l.Begin(ctx, id, secret)
		must[game.Round](t)(l.Begin(t.Context(), id, secret))
		_, tooMuch := l.NoteClosed(t.Context(), id, game.Stopped, game.Total{Packets: -1})
		for _, err := range []error{gone, tooMuch} {
			if err == nil || strings.Contains(err.Error(), string(secret)) {
				t.Errorf("no error, or one with the secret: %v", err != nil)
			}
		}
	})
}

// Whatever is asked in whatever order: a room has at most one active round, a phase never goes back, a secret stays.
func TestPropertyAnyOrderOfSteps(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		order := map[game.Phase]int{game.Draft: 0, game.Countdown: 1, game.Raining: 2, game.Closed: 3, game.Settled: 4}
		rapid.Check(t, func(rt *rapid.T) {
			ctx := t.Context()
			room := newRoom(t, l)
			before := []game.Round{newRound(t, l, room), newRound(t, l, room), newRound(t, l, room)}
			for range rapid.IntRange(1, 12).Draw(rt, "steps") {
				id := before[rapid.IntRange(0, 2).Draw(rt, "round")].ID
				var err error
				switch rapid.SampledFrom([]string{"begin", "opened", "raining", "closed"}).Draw(rt, "step") {
				case "begin":
					_, err = l.Begin(ctx, id, game.NewSecret())
				case "opened":
					_, err = l.NoteOpened(ctx, id, 1000, 2000)
				case "raining":
					_, err = l.NoteRaining(ctx, id)
				case "closed":
					_, err = l.NoteClosed(ctx, id, game.Stopped, game.Total{})
				}
				if err != nil && !errors.Is(err, game.ErrRoomBusy) && !errors.Is(err, game.ErrWrongPhase) {
					rt.Fatal(err)
				}
				active := 0
				for i := range before {
					now := must[game.Round](t)(l.Round(ctx, before[i].ID))
					if order[now.Phase] < order[before[i].Phase] || (before[i].Secret != "" && now.Secret != before[i].Secret) {
						rt.Fatalf("round %d went from %s to %s, or changed its secret", i, before[i].Phase, now.Phase)
					}
					if now.Phase.Active() {
						active++
					}
					before[i] = now
				}
				if active > 1 {
					rt.Fatalf("%d rounds of the room are active", active)
				}
			}
		})
	})
}

// An instance read that a draft is due, and the host moved or took back the plan before it started: it started all the same, or
// lost its new plan.
func TestAPlanThatWasChangedMeanwhileNeitherStartsNorGoes(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		id := newRound(t, l, newRoom(t, l)).ID
		must[game.Round](t)(l.PlanStart(t.Context(), id, 5000))
		if noted := must[bool](t)(l.NoteMissed(t.Context(), id, 4000, game.MissedRoomBusy)); noted {
			t.Error("a draft that is planned for later has missed its start")
		}
		if _, err := l.BeginPlanned(t.Context(), id, game.NewSecret(), 4000); !errors.Is(err, game.ErrWrongPhase) {
			t.Errorf("a draft that is planned for later starts: %v", err)
		}
		if got := must[game.Round](t)(l.Round(t.Context(), id)); got.Phase != game.Draft || got.StartsOn != 5000 || got.MissedOn != 0 {
			t.Errorf("the round is %s, planned for %d", got.Phase, got.StartsOn)
		}
		if got := must[game.Round](t)(l.BeginPlanned(t.Context(), id, game.NewSecret(), 5000)); got.Phase != game.Countdown {
			t.Errorf("the due round is %s", got.Phase)
		}
		other := newRound(t, l, newRoom(t, l)).ID
		must[game.Round](t)(l.PlanStart(t.Context(), other, 5000))
		for _, first := range []bool{true, false} {
			if noted := must[bool](t)(l.NoteMissed(t.Context(), other, 5000, game.MissedRoomBusy)); noted != first {
				t.Errorf("a missed start is noted: %t, want %t", noted, first)
			}
		}
		if got := must[game.Round](t)(l.Round(t.Context(), other)); got.StartsOn != 0 || got.MissedOn != 5000 || got.MissReason != game.MissedRoomBusy {
			t.Errorf("a missed start is %+v", got)
		}
		if got := must[game.Round](t)(l.PlanStart(t.Context(), other, 6000)); got.StartsOn != 6000 || got.MissedOn != 0 || got.MissReason != "" {
			t.Errorf("planned anew it is %+v", got)
		}
	})
}
