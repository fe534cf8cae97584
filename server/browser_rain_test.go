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
func (s *browserPage) dropsInReach(kind string) []drop {
	s.t.Helper()
	return evaluate[[]drop](s, fmt.Sprintf(
		"(window.redrain?.drops() ?? []).filter(({ kind, y }) => kind === %q && y > 140 && y < innerHeight - 80)", kind))
}

// touchOne touches a drop of a kind, if one is in reach: where it will be, as people do, who see a little late what they touch
// a little later. How late that is depends on the machine, so the touch before tells.
func (s *browserPage) touchOne(kind string) bool {
	s.t.Helper()
	began := time.Now()
	aimed := evaluatePromise[[]drop](s, fmt.Sprintf(`new Promise((aimed) => {
		const look = () => (window.redrain?.drops() ?? []).filter(({ kind }) => kind === %q);
		const began = performance.now();
		const before = new Map(look().map((one) => [one.drop, one]));
		setTimeout(() => {
			const ahead = (to, from) => to + ((to - from) * %d) / (performance.now() - began);
			aimed(look().filter(({ drop }) => before.has(drop))
				.map((one) => ({ ...one, x: ahead(one.x, before.get(one.drop).x), y: ahead(one.y, before.get(one.drop).y) }))
				.filter(({ x, y }) => x > 0 && x < innerWidth && y > 140 && y < innerHeight - 80));
		}, %d);
	})`, kind, s.late.Milliseconds(), lookFor.Milliseconds()))
	if len(aimed) == 0 {
		return false
	}
	s.touch(aimed[0].X, aimed[0].Y)
	s.late = (time.Since(began) - lookFor) / 2 // the way there, without the way back
	return true
}

// lookFor is how long one looks at a drop to see where it goes.
const lookFor = 40 * time.Millisecond

// tapDrops touches what falls, one drop after the other, until the player has so many claims.
func (s *browserPage) tapDrops(claims int64) {
	s.t.Helper()
	deadline := time.Now().Add(2 * soon) // fingers miss on a busy machine
	for {
		have := s.number("claims-count", "count")
		if have >= claims {
			return
		}
		if time.Now().After(deadline) {
			s.fail("%d claims within %v, want %d", have, 2*soon, claims)
		}
		if s.touchOne("packet") {
			s.awaitOrMiss(fmt.Sprintf("document.querySelector('%s')?.dataset.count > %d", byTestName("claims-count"), have))
		}
	}
}

// awaitOrMiss waits for what a tap should lead to; a finger may also have missed.
func (s *browserPage) awaitOrMiss(expression string) {
	s.t.Helper()
	for deadline := time.Now().Add(time.Second); !evaluate[bool](s, "Boolean("+expression+")") && time.Now().Before(deadline); {
		time.Sleep(lookEvery)
	}
}

// shownDrops are the heights of the packets that a page shows, by their drop.
func (s *browserPage) shownDrops() map[int64]float64 {
	s.t.Helper()
	heights := make(map[int64]float64)
	for _, one := range s.dropsInReach("packet") {
		heights[one.Drop] = one.Y
	}
	return heights
}

// wantSameFall finds the same drops at the same height on two devices of the same size. Reading takes a moment, in which they
// fall a little. A device that has just come in may still be finding out what time it is; one that goes by a wrong clock
// never agrees.
func wantSameFall(t *testing.T, a, b *browserPage) {
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
				return fmt.Errorf("drop %d is at %v on one device, and went from %v to %v on the other", id, y, from, to)
			}
			compared++
		}
		if compared == 0 {
			return fmt.Errorf("no drop is on both devices: %v, %v, %v", before, there, after)
		}
		return nil
	})
}
