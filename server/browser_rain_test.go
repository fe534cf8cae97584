package main

import (
	"fmt"
	"testing"
	"time"

	"redrain/internal/testkit"
)

// drop is one entry of window.redrain.drops().
type drop struct {
	Drop int64   `json:"drop"`
	Kind string  `json:"kind"`
	AtMS int64   `json:"at_ms"`
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
}

// dropsInReach are the drops of a kind that a finger can reach on this page right now.
func (s *sheet) dropsInReach(kind string) []drop {
	s.t.Helper()
	return see[[]drop](s, fmt.Sprintf(
		"(window.redrain?.drops() ?? []).filter(({ kind, y }) => kind === %q && y > 140 && y < innerHeight - 80)", kind))
}

// tapDrops taps what falls with a finger, one drop after the other, until the player has so many claims.
func (s *sheet) tapDrops(claims int64) {
	s.t.Helper()
	deadline := time.Now().Add(soon)
	for {
		have := s.number("claims-count", "count")
		if have >= claims {
			return
		}
		if time.Now().After(deadline) {
			s.fail("%d claims within %v, want %d", have, soon, claims)
		}
		if falling := s.dropsInReach("packet"); len(falling) > 0 {
			s.touch(falling[0].X, falling[0].Y)
			s.awaitOrMiss(fmt.Sprintf("document.querySelector('%s')?.dataset.count > %d", at("claims-count"), have))
		}
	}
}

// awaitOrMiss waits for what a tap should lead to; a finger may also have missed.
func (s *sheet) awaitOrMiss(expression string) {
	s.t.Helper()
	for deadline := time.Now().Add(time.Second); !see[bool](s, "Boolean("+expression+")") && time.Now().Before(deadline); {
	}
}

// shownDrops are the heights of the packets that a page shows, by their drop.
func (s *sheet) shownDrops() map[int64]float64 {
	s.t.Helper()
	heights := make(map[int64]float64)
	for _, one := range s.dropsInReach("packet") {
		heights[one.Drop] = one.Y
	}
	return heights
}

// wantSameFall finds the same drops at the same height on two devices of the same size. Reading takes a moment, in which they
// fall a little.
func wantSameFall(t *testing.T, a, b *sheet) {
	t.Helper()
	testkit.Eventually(t, soon, func() error {
		before, there, after := a.shownDrops(), b.shownDrops(), a.shownDrops()
		compared := 0
		for id, y := range there {
			from, seenBefore := before[id]
			to, seenAfter := after[id]
			if !seenBefore || !seenAfter {
				continue
			}
			if y < from-40 || y > to+40 {
				t.Fatalf("drop %d is at %v on one device, and went from %v to %v on the other", id, y, from, to)
			}
			compared++
		}
		if compared == 0 {
			return fmt.Errorf("no drop is on both devices: %v, %v, %v", before, there, after)
		}
		return nil
	})
}
