package live

import (
	"sync"
)

// parts is in how many groups players hear the tally and the drops, one after the other: what goes to thousands of phones
// every second is spread over that second, so that answers to taps need not wait behind it.
const parts = 40

// audience is the connections in a room. Nothing here waits for a connection. Safe for concurrent use.
type audience struct {
	mu       sync.RWMutex
	players  [parts]map[Member]struct{}
	watchers map[Member]struct{} // hosts and screens
	hosts    map[Member]struct{}
	next     int
}

func (a *audience) sit(m Member) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next = (a.next + 1) % parts
	if a.players[a.next] == nil {
		a.players[a.next] = make(map[Member]struct{})
	}
	a.players[a.next][m] = struct{}{}
}

func (a *audience) watch(m Member, hosts bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.watchers == nil {
		a.watchers, a.hosts = make(map[Member]struct{}), make(map[Member]struct{})
	}
	a.watchers[m] = struct{}{}
	if hosts {
		a.hosts[m] = struct{}{}
	}
}

func (a *audience) leave(m Member) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.watchers, m)
	delete(a.hosts, m)
	for _, part := range a.players {
		delete(part, m)
	}
}

// give hands a frame to each of some members.
func (a *audience) give(members *map[Member]struct{}, how func(Member, []byte), frame []byte) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for m := range *members {
		how(m, frame)
	}
}

// everybody gets a frame that must arrive.
func (a *audience) everybody(frame []byte) {
	a.toWatchers(frame)
	for i := range parts {
		a.toPart(i, [][]byte{frame}, nil)
	}
}

// toWatchers gives all hosts and screens a frame that must arrive.
func (a *audience) toWatchers(frame []byte) { a.give(&a.watchers, Member.Deliver, frame) }

// toPart gives one part of the players frames that must arrive, and the latest of something unless that is nil. Each player
// gets all of it in one moment, so that it is one write to them.
func (a *audience) toPart(i int, frames [][]byte, update []byte) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for m := range a.players[i] {
		for _, frame := range frames {
			m.Deliver(frame)
		}
		if update != nil {
			m.Update(update)
		}
	}
}

// hosting gives hosts a frame that must arrive.
func (a *audience) hosting(frame []byte) { a.give(&a.hosts, Member.Deliver, frame) }

// watching gives hosts and screens the latest of something.
func (a *audience) watching(frame []byte) { a.give(&a.watchers, Member.Update, frame) }
