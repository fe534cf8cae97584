package ledger_test

import (
	"errors"
	"sync"
	"testing"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

// However many calls report at once that Redis lost claims of a round, exactly one is first. A loss that a host has accepted is not
// reported again.
func TestOneOfManyCallsIsFirstToNoteLostClaims(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		instances := []*ledger.Ledger{open(), open()}
		l := instances[0]
		round := begunRound(t, l, 20, 2000)
		must[game.Booked](t)(l.Book(t.Context(), round.ID, []game.Entry{batch("1-0", claim(1, "ann", 10), claim(2, "bob", 20))}))
		note := func(number int) (frozen, first bool) {
			t.Helper()
			var noting sync.WaitGroup
			var mu sync.Mutex
			firsts := 0
			for i := range 6 {
				noting.Go(func() {
					noted, was, err := instances[i%2].NoteLost(t.Context(), round.ID, number)
					mu.Lock()
					defer mu.Unlock()
					if err != nil || noted.Frozen != must[game.Round](t)(l.Round(t.Context(), round.ID)).Frozen {
						t.Errorf("noted %+v, %v", noted, err)
					}
					if was {
						firsts++
					}
				})
			}
			noting.Wait()
			if firsts > 1 {
				t.Errorf("%d were first", firsts)
			}
			return must[game.Round](t)(l.Round(t.Context(), round.ID)).Frozen, firsts == 1
		}
		if frozen, first := note(7); !frozen || !first {
			t.Errorf("frozen %v, first %v", frozen, first)
		}
		if frozen, first := note(6); !frozen || first {
			t.Errorf("again: frozen %v, first %v", frozen, first)
		}
		if account := must[game.Account](t)(l.Account(t.Context(), round.ID)); account.Highest != 7 || account.Booked.Packets != 2 {
			t.Errorf("the account is %+v", account)
		}
		must[game.Round](t)(l.NoteReleased(t.Context(), round.ID, &game.Watermark{Claimed: game.Total{Packets: 2, Cents: 30}}))
		if frozen, first := note(7); frozen || first {
			t.Errorf("excused: frozen %v, first %v", frozen, first)
		}
		if frozen, first := note(8); !frozen || !first {
			t.Errorf("another loss: frozen %v, first %v", frozen, first)
		}
		if _, _, err := l.NoteLost(t.Context(), "nonsense", 1); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("a round that is none: %v", err)
		}
	})
}

// What was found wrong with a round freezes it only as it was read: a host who has released it since knew of the fault. Once a closed
// round without keys is released, it can be settled at once.
func TestAFaultFoundBeforeTheReleaseDoesNotFreezeAgain(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		round := begunRound(t, l, 10, 1000)
		book(t, l, round, batch("1-0", claim(1, "ann", 100)))
		read := must[game.Round](t)(l.NoteClosed(t.Context(), round.ID, game.Stopped, game.Total{}))
		for _, wantFrozen := range []bool{true, false} { // two processes found the same
			frozen, first, err := l.NoteFault(t.Context(), read, game.FrozenKeysLost)
			if err != nil || !frozen.Frozen || frozen.FreezeReason != game.FrozenKeysLost || first != wantFrozen {
				t.Errorf("frozen %t for %q, by this call %t, %v", frozen.Frozen, frozen.FreezeReason, first, err)
			}
		}
		released := must[game.Round](t)(l.NoteReleased(t.Context(), round.ID, nil))
		if late, first, err := l.NoteFault(t.Context(), read, game.FrozenKeysLost); err != nil || late.Frozen || first {
			t.Errorf("found before the release: frozen %t, by this call %t, %v", late.Frozen, first, err)
		}
		if step := must[game.RefundStep](t)(l.ApplyRefund(t.Context(), round.ID)); step != game.RefundApplied {
			t.Errorf("after the release the refund is %s", step)
		}
		if again, first, err := l.NoteFault(t.Context(), released, game.FrozenKeysLost); err != nil || !again.Frozen || !first {
			t.Errorf("found after the release: frozen %t, by this call %t, %v", again.Frozen, first, err)
		}
		wantDoubleEntry(t, l)
	})
}
