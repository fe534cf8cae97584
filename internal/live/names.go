package live

import (
	"sync"
	"time"
)

const (
	// forgetNames bounds how long a changed nickname is shown where the change was not heard of.
	forgetNames = 30 * time.Second
	// namesKept is how many nicknames a room remembers before those that were not shown for forgetNames are dropped.
	namesKept = 4096
	// namesAtOnce is the most nicknames in one query.
	namesAtOnce = 256
)

// names are the nicknames that a room's tallies show. One loop asks for them, the other reads them from SQL. Once known, a
// nickname is shown until SQL has said another one, whatever fails meanwhile. Safe for concurrent use.
type names struct {
	mu      sync.Mutex
	known   map[string]nickname
	wanted  map[string]bool
	since   time.Time // since when something wanted is unanswered; zero: nothing is
	renamed time.Time // what was read before this is read again
}

type nickname struct {
	text        string
	read, shown time.Time
}

// want asks for nicknames that are unknown or old, and reports whether there is one that was not asked for before.
func (n *names) want(players []string) (asked bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	for _, player := range players {
		name, known := n.known[player]
		if known {
			name.shown = now
			n.known[player] = name
		}
		if known && name.read.After(n.renamed) && now.Sub(name.read) <= forgetNames || n.wanted[player] {
			continue
		}
		if n.wanted == nil {
			n.wanted = make(map[string]bool)
		}
		if n.since.IsZero() {
			n.since = now
		}
		n.wanted[player], asked = true, true
	}
	return asked
}

// awaited reports whether one of the players has no nickname yet, and SQL, as far as it is known to answer, may soon tell it.
func (n *names) awaited(players []string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.since.IsZero() || time.Since(n.since) >= activePace {
		return false
	}
	for _, player := range players {
		if _, known := n.known[player]; !known {
			return true
		}
	}
	return false
}

func (n *names) of(player string) (text string, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	name, known := n.known[player]
	return name.text, known
}

// mistrust has every nickname read again before long: somebody was renamed.
func (n *names) mistrust() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.renamed = time.Now()
}

// unanswered returns what is to be looked up, at most namesAtOnce.
func (n *names) unanswered() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var players []string
	for player := range n.wanted {
		if players = append(players, player); len(players) == namesAtOnce {
			break
		}
	}
	return players
}

// learn takes the answer to a look-up of players that was made at a moment; who is not in it has no nickname.
func (n *names) learn(asked time.Time, players []string, found map[string]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known == nil {
		n.known = make(map[string]nickname)
	}
	now := time.Now()
	for _, player := range players {
		n.known[player] = nickname{text: found[player], read: asked, shown: now}
		delete(n.wanted, player)
	}
	n.since = time.Time{}
	if len(n.wanted) > 0 {
		n.since = now
	}
	n.prune(now)
}

func (n *names) prune(now time.Time) {
	if len(n.known) <= namesKept {
		return
	}
	for player, name := range n.known {
		if now.Sub(name.shown) > forgetNames {
			delete(n.known, player)
		}
	}
}
