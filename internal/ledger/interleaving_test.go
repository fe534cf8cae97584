package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

// overtakeWithin is how long a transaction is held for another one to overtake it. One that waits for its lock does not.
const overtakeWithin = 15 * time.Millisecond

// A change of a round once read it, and acted on what it had read while somebody else changed it: a round began with the money
// of settings that were no longer its own; a host heard "frozen" of a round that settled in that moment. Here every change is
// held before each of its writes, while every other change of the same round is tried to its end.
func TestConcurrentChangesOfARoundDoNotInterfere(t *testing.T) {
	for name, scene := range scenes {
		t.Run(name, func(t *testing.T) {
			onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
				held, other := open(ledger.WithPayouts(1)), open(ledger.WithPayouts(1))
				hold := new(holding)
				ledger.BeforeEachStatement(held, hold.before)
				for _, first := range slices.Sorted(maps.Keys(scene.changes)) {
					for _, second := range slices.Sorted(maps.Keys(scene.changes)) {
						interleave(t, hold, held, other, scene, first, second)
					}
				}
				wantDoubleEntry(t, other)
			})
		})
	}
}

// interleave holds the first change before its write 1, 2, 3 … until it has no more, each time in a new room.
func interleave(t *testing.T, hold *holding, held, other *ledger.Ledger, scene scene, first, second string) {
	t.Helper()
	for at := 1; ; at++ {
		r := scene.prepare(t, other)
		done := make(chan error, 1)
		hold.set(at, func() {
			overtaking := make(chan struct{})
			go func() {
				defer close(overtaking)
				done <- scene.changes[second](t.Context(), other, r)
			}()
			select {
			case <-overtaking:
			case <-time.After(overtakeWithin):
			}
		})
		errFirst := scene.changes[first](t.Context(), held, r)
		if !hold.reached() {
			return
		}
		errSecond := <-done
		for _, err := range []error{errFirst, errSecond} {
			if err != nil && !isExpectedRefusal(err) {
				t.Errorf("%s held before write %d, and %s: %v", first, at, second, err)
			}
		}
		wantConsistentRoom(t, other, fmt.Sprintf("%s held before write %d, and %s", first, at, second), r)
	}
}

// isExpectedRefusal are the answers that a change may get which came second.
func isExpectedRefusal(err error) bool {
	return errors.Is(err, game.ErrWrongPhase) || errors.Is(err, game.ErrRoomBusy) || errors.Is(err, game.ErrNotFound)
}

// wantConsistentRoom checks what must hold of the rounds of a room whatever was done to them.
func wantConsistentRoom(t *testing.T, l *ledger.Ledger, doing string, r rounds) {
	t.Helper()
	active := 0
	for _, id := range []string{r.round.ID, r.sibling.ID} {
		round, err := l.Round(t.Context(), id)
		if errors.Is(err, game.ErrNotFound) || (err == nil && round.Phase == game.Draft) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if round.Phase.Active() {
			active++
		}
		if round.Commitment != game.Commitment(round.Algorithm, round, round.Secret) {
			t.Errorf("%s: the commitment is not that of the settings", doing)
		}
		account := must[game.Account](t)(l.Account(t.Context(), id))
		held := must[game.Cents](t)(l.Escrow(t.Context(), round))
		want := round.Settings.Total - account.Booked.Cents
		if account.Refunded {
			want = 0
		}
		if held != want {
			t.Errorf("%s: %d cents are in escrow, of a budget of %d with %d claimed", doing, held, round.Settings.Total, account.Booked.Cents)
		}
		if round.Phase == game.Settled && (round.Frozen || !account.Refunded) {
			t.Errorf("%s: settled, frozen %t, refunded %t", doing, round.Frozen, account.Refunded)
		}
		if planned := must[game.PayoutSums](t)(l.PayoutSums(t.Context(), id)).Planned; planned != (round.Phase == game.Settled) {
			t.Errorf("%s: payouts are planned: %t, in phase %s", doing, planned, round.Phase)
		}
		if round.Frozen != (round.FreezeReason != "") {
			t.Errorf("%s: frozen %t for reason %q", doing, round.Frozen, round.FreezeReason)
		}
	}
	if active > 1 {
		t.Errorf("%s: both rounds of the room are active", doing)
	}
}

// rounds are two rounds of one room; what is done is done to the first of them.
type rounds struct{ round, sibling game.Round }

// scene is where the rounds stand before the changes, and what can be tried there.
type scene struct {
	prepare func(*testing.T, *ledger.Ledger) rounds
	changes map[string]func(context.Context, *ledger.Ledger, rounds) error
}

var scenes = map[string]scene{
	"draft": {
		prepare: func(t *testing.T, l *ledger.Ledger) rounds {
			room := newRoom(t, l)
			return rounds{newRound(t, l, room), newRound(t, l, room)}
		},
		changes: map[string]func(context.Context, *ledger.Ledger, rounds) error{
			"begin": beginRound,
			"begin the sibling": func(ctx context.Context, l *ledger.Ledger, r rounds) error {
				return beginRound(ctx, l, rounds{round: r.sibling})
			},
			"change the draft": func(ctx context.Context, l *ledger.Ledger, r rounds) error {
				settings := someSettings()
				settings.Total = 12_300
				_, err := l.ChangeDraft(ctx, r.round.ID, settings)
				return err
			},
			"plan the start": func(ctx context.Context, l *ledger.Ledger, r rounds) error {
				_, err := l.PlanStart(ctx, r.round.ID, 1)
				return err
			},
			"drop the draft": func(ctx context.Context, l *ledger.Ledger, r rounds) error { return l.DropDraft(ctx, r.round.ID) },
			"order": func(ctx context.Context, l *ledger.Ledger, r rounds) error {
				return l.OrderDrafts(ctx, r.round.Room, []string{r.round.ID, r.sibling.ID})
			},
			"order the other way": func(ctx context.Context, l *ledger.Ledger, r rounds) error {
				return l.OrderDrafts(ctx, r.round.Room, []string{r.sibling.ID, r.round.ID})
			},
		},
	},
	"open": {
		prepare: func(t *testing.T, l *ledger.Ledger) rounds {
			room := newRoom(t, l)
			r := rounds{newRound(t, l, room), newRound(t, l, room)}
			begin(t, l, r.round.ID)
			return r
		},
		changes: map[string]func(context.Context, *ledger.Ledger, rounds) error{
			"begin the sibling": func(ctx context.Context, l *ledger.Ledger, r rounds) error {
				return beginRound(ctx, l, rounds{round: r.sibling})
			},
			"note opened": func(ctx context.Context, l *ledger.Ledger, r rounds) error {
				_, err := l.NoteOpened(ctx, r.round.ID, 1000, 2000)
				return err
			},
			"note raining": func(ctx context.Context, l *ledger.Ledger, r rounds) error {
				_, err := l.NoteRaining(ctx, r.round.ID)
				return err
			},
			"note closed": func(ctx context.Context, l *ledger.Ledger, r rounds) error {
				_, err := l.NoteClosed(ctx, r.round.ID, game.Stopped, game.Total{})
				return err
			},
			"freeze":          freezeRound,
			"release":         releaseRound,
			"note lost":       loseClaims,
			"book":            bookClaim,
			"book a conflict": bookConflict,
		},
	},
	"closed, with its refund": {
		prepare: func(t *testing.T, l *ledger.Ledger) rounds { return closedPair(t, l, true) },
		changes: map[string]func(context.Context, *ledger.Ledger, rounds) error{
			"apply the refund": applyRefund, "settle": settleRound, "freeze": freezeRound, "release": releaseRound,
			"note lost": loseClaims, "book again": bookClaim, "book a conflict": bookConflict, "interrupt": interruptRound,
			"apply the refund and settle": func(ctx context.Context, l *ledger.Ledger, r rounds) error {
				return errors.Join(applyRefund(ctx, l, r), settleRound(ctx, l, r))
			},
			"send payouts again": sendAgain,
		},
	},
	"closed, without keys": {
		prepare: func(t *testing.T, l *ledger.Ledger) rounds { return closedPair(t, l, false) },
		changes: map[string]func(context.Context, *ledger.Ledger, rounds) error{
			"interrupt": interruptRound, "freeze": freezeRound, "release": releaseRound, "book again": bookClaim,
			"interrupt, refund and settle": func(ctx context.Context, l *ledger.Ledger, r rounds) error {
				return errors.Join(interruptRound(ctx, l, r), applyRefund(ctx, l, r), settleRound(ctx, l, r))
			},
		},
	},
}

func closedPair(t *testing.T, l *ledger.Ledger, refund bool) rounds {
	t.Helper()
	room := newRoom(t, l)
	r := rounds{newRound(t, l, room), newRound(t, l, room)}
	r.round = begin(t, l, r.round.ID)
	book(t, l, r.round, batch("1-0", claim(1, "ann", 100)))
	closeRound(t, l, r.round.ID, game.Stopped)
	if refund {
		book(t, l, r.round, closing(1, 100, r.round.Settings.Total-100))
	}
	return r
}

func beginRound(ctx context.Context, l *ledger.Ledger, r rounds) error {
	_, err := l.Begin(ctx, r.round.ID, game.NewSecret())
	return err
}

func freezeRound(ctx context.Context, l *ledger.Ledger, r rounds) error {
	_, err := l.NoteFrozen(ctx, r.round.ID, game.FrozenByHost)
	return err
}

func releaseRound(ctx context.Context, l *ledger.Ledger, r rounds) error {
	_, err := l.NoteReleased(ctx, r.round.ID, nil)
	return err
}

func loseClaims(ctx context.Context, l *ledger.Ledger, r rounds) error {
	_, _, err := l.NoteLost(ctx, r.round.ID, 7)
	return err
}

func bookClaim(ctx context.Context, l *ledger.Ledger, r rounds) error {
	_, err := l.Book(ctx, r.round.ID, []game.Entry{batch("1-0", claim(1, "ann", 100))})
	return err
}

func bookConflict(ctx context.Context, l *ledger.Ledger, r rounds) error {
	_, err := l.Book(ctx, r.round.ID, []game.Entry{batch("1-0", claim(1, "ann", 100)), batch("2-0", claim(1, "eve", 9))})
	return err
}

func applyRefund(ctx context.Context, l *ledger.Ledger, r rounds) error {
	_, err := l.ApplyRefund(ctx, r.round.ID)
	return err
}

func settleRound(ctx context.Context, l *ledger.Ledger, r rounds) error {
	_, err := l.NoteSettled(ctx, r.round.ID)
	return err
}

func interruptRound(ctx context.Context, l *ledger.Ledger, r rounds) error {
	return l.Interrupt(ctx, r.round.ID)
}

func sendAgain(ctx context.Context, l *ledger.Ledger, r rounds) error {
	_, err := l.ResendPayouts(ctx, r.round.ID)
	return err
}

// holding calls a function before one write of a change, by its number. It is used by one change at a time.
type holding struct {
	at   int
	call func()
}

func (h *holding) set(at int, call func()) { h.at, h.call = at, call }

func (h *holding) before(statement string) {
	if strings.HasPrefix(statement, "SELECT") || strings.HasPrefix(statement, "BEGIN") {
		return
	}
	if h.at--; h.at == 0 {
		h.call()
	}
}

// reached reports whether the change had as many writes.
func (h *holding) reached() bool { return h.at <= 0 }
