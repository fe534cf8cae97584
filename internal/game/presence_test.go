package game

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// told is what Redis has after some changes came through.
func told(marks map[string]bool, c Changes) {
	for _, player := range c.Joined {
		marks[player] = true
	}
	for _, player := range c.Left {
		delete(marks, player)
	}
}

// Who came and left again before anybody was told is not told of, unless Redis may have heard of the first half.
func TestOppositeChangesAreNotTold(t *testing.T) {
	var p Presence
	p.Enter("ann")
	p.Leave("ann")
	if next := p.Next(10); p.HasChanges() || len(next.Joined)+len(next.Left) > 0 || next.Serial != 0 {
		t.Errorf("told %+v", next)
	}
	p.Enter("ann")
	p.Next(10)
	p.Leave("ann")
	if next := p.Next(10); !slices.Equal(next.Left, []string{"ann"}) {
		t.Errorf("the answer was lost, and told is %+v", next)
	}
	p.Confirm(0)
	if p.HasChanges() {
		t.Error("it came through, and waits to be told")
	}
}

// Whatever comes through, twice or not at all: every part is small, says how many marks there must be after it, and in the end
// Redis has who is here.
func TestPresenceIsToldInSmallPartsUntilRedisHasIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 3
		var p Presence
		marks, here, mark := make(map[string]bool), make(map[string]bool), int64(0)
		tell := func(arrives, answered bool) {
			next := p.Next(most)
			if len(next.Joined)+len(next.Left) > most {
				t.Fatalf("one part is %+v", next)
			}
			if arrives && next.Mark == mark {
				told(marks, next)
				if len(marks) != p.Online()-next.Unsent {
					t.Fatalf("there are %d marks after %+v, and %d are here", len(marks), next, p.Online())
				}
			}
			if answered && p.Confirm(mark) != (next.Mark == mark) {
				t.Fatalf("mark %d came through as %d", next.Mark, mark)
			}
		}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			player := fmt.Sprint("p", rapid.IntRange(0, 9).Draw(t, "player"))
			switch rapid.SampledFrom([]string{"in", "in", "out", "tell", "tell", "no answer", "no call", "lost"}).Draw(t, "deed") {
			case "in":
				here[player] = true
				p.Enter(player)
			case "out":
				delete(here, player)
				p.Leave(player)
			case "tell":
				tell(true, true)
			case "no answer":
				tell(true, false)
			case "no call":
				tell(false, false)
			case "lost":
				mark++
				clear(marks)
			}
		}
		for tell(true, true); p.HasChanges(); {
			tell(true, true)
		}
		if p.Online() != len(here) || fmt.Sprint(marks) != fmt.Sprint(here) {
			t.Fatalf("Redis has %v, here are %v", marks, here)
		}
	})
}
