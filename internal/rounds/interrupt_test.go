package rounds_test

import (
	"errors"
	"strings"
	"testing"

	"redrain/internal/game"
	"redrain/internal/rounds"
)

// Before an embedded Redis ends every open round is closed, although one of them fails.
func TestInterruptClosesEveryOpenRound(t *testing.T) {
	withEnv(t, func(h *env) {
		i := h.addInstance(rounds.Options{Embedded: true})
		raining, counting, gone, draft := h.draft(), h.draftIn(h.newRoom()), h.draftIn(h.newRoom()), h.draftIn(h.newRoom())
		unopened := h.draftIn(h.newRoom())
		round := h.must(i.Start(h.Context(), raining))
		h.sleepUntil(round.StartsAt + 1000)
		h.pool.claim(raining, 3)
		h.must(i.Start(h.Context(), counting))
		h.must(i.Start(h.Context(), gone))
		h.pool.change(func() { delete(h.pool.keys, gone) })
		h.must(h.book.Begin(h.Context(), unopened, game.NewSecret()))
		for range 2 {
			if err := i.Interrupt(h.Context()); err != nil {
				h.Error(err)
			}
		}
		for id, claimed := range map[string]int{raining: 3, counting: 0, gone: 0, unopened: 0} {
			got := h.readBooks(id)
			if got.Phase != game.Closed || got.Reason != game.Interrupted || got.Claimed.Packets != claimed {
				h.Errorf("the round is in %s (%s) with %d claims", got.Phase, got.Reason, got.Claimed.Packets)
			}
			if k, there := h.pool.read(id); id != gone && (!there || k.closed != 1) {
				h.Errorf("in redis it was closed %d times", k.closed)
			}
		}
		if got := h.readBooks(draft); got.Phase != game.Draft {
			h.Errorf("the draft is in %s", got.Phase)
		}
	})
}

func TestInterruptSaysWhatItCouldNotClose(t *testing.T) {
	withEnv(t, func(h *env) {
		i := h.addPassive(rounds.Options{Embedded: true})
		id := h.draft()
		h.must(i.Start(h.Context(), id))
		h.pool.setAway(true)
		if err := i.Interrupt(h.Context()); err == nil || !strings.Contains(err.Error(), id) {
			h.Errorf("it says %v", err)
		}
	})
}

// A round opened after the interrupt would be lost with the embedded Redis.
func TestNothingStartsOnceItWasInterrupted(t *testing.T) {
	withEnv(t, func(h *env) {
		i := h.addPassive(rounds.Options{Embedded: true})
		id := h.draft()
		if err := i.Interrupt(h.Context()); err != nil {
			h.Error(err)
		}
		if _, err := i.Start(h.Context(), id); !errors.Is(err, game.ErrBusy) {
			h.Errorf("the start says %v", err)
		}
		if got := h.readBooks(id); got.Phase != game.Draft {
			h.Errorf("the draft is in %s", got.Phase)
		}
	})
}
