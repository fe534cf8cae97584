package live

import (
	"cmp"
	"slices"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// maxArrivals is how many of the players in a room are shown by name.
const maxArrivals = 12

// arrivalList is a list of arrivals, the newest first, at most maxArrivals.
type arrivalList []game.Arrival

// addSession adds a player who is online. A blocked player is not shown: they are being disconnected.
func (l *arrivalList) addSession(session *PlayerSession) {
	if !session.blocked {
		l.insert(game.Arrival{Player: session.player, At: session.joinedAt})
	}
}

func (l *arrivalList) insert(a game.Arrival) {
	at, _ := slices.BinarySearchFunc(*l, a, compareNewestFirst)
	if at < maxArrivals {
		*l = slices.Insert(*l, at, a)[:min(len(*l)+1, maxArrivals)]
	}
}

// recentArrivals keeps the newest arrivals of the players who are online on this instance, so that a report need not look at all
// sessions unless one of the newest has left. The room's lock guards it.
type recentArrivals struct {
	newest arrivalList
	stale  bool // one of the newest left, or a player was blocked or unblocked: the list must be made anew
}

func (a *recentArrivals) add(session *PlayerSession) { a.newest.addSession(session) }

func (a *recentArrivals) remove(session *PlayerSession) {
	isListed := slices.ContainsFunc(a.newest, func(arrival game.Arrival) bool { return arrival.Player == session.player })
	a.stale = a.stale || isListed
}

// list returns a copy of the newest arrivals.
func (a *recentArrivals) list(sessions map[string]*PlayerSession) arrivalList {
	if a.stale {
		a.newest, a.stale = nil, false
		for _, session := range sessions {
			if len(session.clients) > 0 {
				a.newest.addSession(session)
			}
		}
	}
	return slices.Clone(a.newest)
}

// compareNewestFirst orders arrivals the same way on every instance.
func compareNewestFirst(a, b game.Arrival) int {
	return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(a.Player, b.Player))
}

// mergeArrivals returns the newest of what all instances reported. A player who is on several of them counts from the first arrival.
func mergeArrivals(reported []game.Arrival) arrivalList {
	since := make(map[string]game.Moment, len(reported))
	for _, a := range reported {
		if first, known := since[a.Player]; !known || a.At < first {
			since[a.Player] = a.At
		}
	}
	var merged arrivalList
	for player, at := range since {
		merged.insert(game.Arrival{Player: player, At: at})
	}
	return merged
}

// tallyArrivals returns the newest arrivals for a tally, without nicknames.
func tallyArrivals(reported []game.Arrival) []wire.Arrival {
	arrivals := []wire.Arrival{}
	for _, a := range mergeArrivals(reported) {
		arrivals = append(arrivals, wire.Arrival{Player: a.Player})
	}
	return arrivals
}
