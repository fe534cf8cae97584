package live

import (
	"cmp"
	"context"
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

// introduce is the newest arrivals by their nicknames.
func introduce(ctx context.Context, opts *Options, names *names, reported []game.Arrival) ([]wire.Arrival, error) {
	arrivals := []wire.Arrival{}
	all := latest(reported)
	players := make([]string, len(all))
	for i, a := range all {
		players[i] = a.Player
	}
	if err := names.learn(ctx, opts.Books, players); err != nil {
		return nil, err
	}
	for _, player := range players {
		if nickname := names.of(player); nickname != "" {
			arrivals = append(arrivals, wire.Arrival{Player: player, Nickname: nickname})
		}
	}
	return arrivals, nil
}
