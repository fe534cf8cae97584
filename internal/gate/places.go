package gate

import (
	"net/http"
	"sync"

	"redrain/internal/wire"
)

// Bounds are how many connections may be open at once. 0: no bound. Hosts, who have a session, count and are never refused.
type Bounds struct {
	PerAddress, PerRoom               int
	ScreensPerAddress, ScreensPerRoom int // screens are anonymous: any program can be one
	PerPlayer                         int // a player's tabs
}

// full is the refusal of a connection beyond a bound.
func full(message string) *refusal {
	return &refusal{http.StatusServiceUnavailable, "full", message}
}

// The reasons why somebody finds no place.
var (
	errServerFull     = full("this server has no room for more connections right now, try again later")
	errAddressFull    = full("too many connections are open from this network address")
	errRoomFull       = full("too many connections are open to this room")
	errScreensAddress = full("too many screens are open from this network address")
	errScreensRoom    = full("too many screens are open in this room")
	errPlayerFull     = full("this player has too many tabs open, close some")
)

// place is what a connection counts towards: an address, a room, a player, or their screens.
type place struct{ kind, name string }

// places counts the open connections of each place. Safe for concurrent use.
type places struct {
	bounds Bounds

	mu    sync.Mutex
	taken map[place]int
}

// boundedPlace is a place with its bound, and the refusal beyond it.
type boundedPlace struct {
	place

	most int
	full *refusal
}

func (p *places) of(room string, in identity) []boundedPlace {
	all := []boundedPlace{
		{place{"address", in.network}, p.bounds.PerAddress, errAddressFull},
		{place{"room", room}, p.bounds.PerRoom, errRoomFull},
	}
	switch in.role {
	case wire.RoleScreen:
		all = append(all, boundedPlace{place{"screens of address", in.network}, p.bounds.ScreensPerAddress, errScreensAddress},
			boundedPlace{place{"screens of room", room}, p.bounds.ScreensPerRoom, errScreensRoom})
	case wire.RolePlayer:
		all = append(all, boundedPlace{place{"player", in.player}, p.bounds.PerPlayer, errPlayerFull})
	case wire.RoleHost:
	}
	return all
}

// take counts a connection in, or returns the refusal of the first bound that it is beyond, and counts nothing.
func (p *places) take(room string, in identity) error {
	wanted := p.of(room, in)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range wanted {
		if in.role != wire.RoleHost && one.most > 0 && p.taken[one.place] >= one.most {
			return one.full
		}
	}
	for _, one := range wanted {
		p.taken[one.place]++
	}
	return nil
}

// leave counts a connection out that take has counted in.
func (p *places) leave(room string, in identity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.of(room, in) {
		if p.taken[one.place]--; p.taken[one.place] <= 0 {
			delete(p.taken, one.place)
		}
	}
}
