package live

import (
	"cmp"
	"slices"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// arrivalsSize is how many of those who wait in a room are told by name, however many there are.
const arrivalsSize = 12

// newest is the latest arrivals, newest first, arrivalsSize at most.
type newest []game.Arrival

// add takes a player who is here. A blocked one is on the way out, and is not shown any more.
func (n *newest) add(seat *Seat) {
	if !seat.blocked {
		n.take(game.Arrival{Player: seat.player, At: seat.came})
	}
}

func (n *newest) take(a game.Arrival) {
	at, _ := slices.BinarySearchFunc(*n, a, newerFirst)
	if at < arrivalsSize {
		*n = slices.Insert(*n, at, a)[:min(len(*n)+1, arrivalsSize)]
	}
}

// lobby keeps the newest of who is here, so that a report needs no look at every seat unless one of the newest is gone. The room's
// lock guards it.
type lobby struct {
	came  newest
	stale bool // one of them left, or was blocked or let in again: who comes in their place must be looked for
}

func (l *lobby) enter(seat *Seat) { l.came.add(seat) }

func (l *lobby) leave(seat *Seat) {
	l.stale = l.stale || slices.ContainsFunc(l.came, func(a game.Arrival) bool { return a.Player == seat.player })
}

// newest is for a report, which nothing changes any more.
func (l *lobby) newest(seats map[string]*Seat) newest {
	if l.stale {
		l.came, l.stale = nil, false
		for _, seat := range seats {
			if len(seat.members) > 0 {
				l.came.add(seat)
			}
		}
	}
	return slices.Clone(l.came)
}

// newerFirst orders arrivals the same way wherever they are ordered.
func newerFirst(a, b game.Arrival) int {
	return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(a.Player, b.Player))
}

// latest is the newest of what all instances reported. Who is at several of them came with their first tab.
func latest(reported []game.Arrival) newest {
	since := make(map[string]game.Moment, len(reported))
	for _, a := range reported {
		if first, known := since[a.Player]; !known || a.At < first {
			since[a.Player] = a.At
		}
	}
	var all newest
	for player, at := range since {
		all.take(game.Arrival{Player: player, At: at})
	}
	return all
}

// arrivalsOf is the newest arrivals, without their names.
func arrivalsOf(reported []game.Arrival) []wire.Arrival {
	arrivals := []wire.Arrival{}
	for _, a := range latest(reported) {
		arrivals = append(arrivals, wire.Arrival{Player: a.Player})
	}
	return arrivals
}
