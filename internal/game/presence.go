package game

// Changes are the players who joined or left a room on one instance since its last report to Redis. Redis gives each instance a mark,
// and keeps with each player the marks of the instances where they are. So a player on several instances counts once.
type Changes struct {
	Mark         int64 // the instance's mark, as last returned by Redis; 0: none
	Since        int64 // Serial of the last changes that Redis is known to have applied
	Serial       int64 // number of these changes; the same as before if there are none
	Joined, Left []string
	Unsent       int // by how many the players with this mark will grow with the changes that are not sent yet
}

// Presence is the set of players in a room on one instance, with the changes that Redis has yet to apply. Not safe for concurrent use.
type Presence struct {
	here map[string]struct{}
	// changes are the players of whom Redis may have an old state; true: they are here. grown is how many of them are here minus how
	// many are not.
	changes map[string]bool
	grown   int
	sent    map[string]bool // the changes of the last report, which Redis may have applied or not
	mark    int64           // see Changes
	since   int64
	serial  int64
}

// NewPresence returns an empty presence, whose serials come after the given one. A room that an instance closed and opened again may get
// the mark that it had, so a report of the earlier presence that is still on its way must not look like one of the later presence:
// opened must be greater than all serials of that one, as the moment of opening is.
func NewPresence(opened int64) Presence { return Presence{since: opened, serial: opened} }

// Enter adds a player.
func (p *Presence) Enter(player string) {
	if _, here := p.here[player]; !here {
		if p.here == nil {
			p.here, p.changes = make(map[string]struct{}), make(map[string]bool)
		}
		p.here[player] = struct{}{}
		p.change(player, true)
	}
}

// Leave removes a player.
func (p *Presence) Leave(player string) {
	if _, here := p.here[player]; here {
		delete(p.here, player)
		p.change(player, false)
	}
}

// Online is how many players are here.
func (p *Presence) Online() int { return len(p.here) }

// HasChanges reports whether there is something to send.
func (p *Presence) HasChanges() bool { return len(p.changes) > 0 }

// change records a change. It cancels the opposite change before it, unless that was sent and Redis may have applied it.
func (p *Presence) change(player string, here bool) {
	_, pending := p.changes[player]
	_, sent := p.sent[player]
	p.forget(player)
	if !pending || sent {
		p.changes[player] = here
		p.grown += sign(here)
	}
}

func (p *Presence) forget(player string) {
	if here, pending := p.changes[player]; pending {
		p.grown -= sign(here)
		delete(p.changes, player)
	}
}

func sign(here bool) int {
	if here {
		return 1
	}
	return -1
}

// Next returns up to most changes to send. Players of the last report, if it was not confirmed, come first, with their present state:
// once Redis has applied these changes, it is known again what it has.
func (p *Presence) Next(most int) Changes {
	next := Changes{Mark: p.mark, Since: p.since, Unsent: p.grown}
	sent := make(map[string]bool)
	add := func(player string) {
		here := p.changes[player]
		sent[player] = here
		next.Unsent -= sign(here)
		if here {
			next.Joined = append(next.Joined, player)
		} else {
			next.Left = append(next.Left, player)
		}
	}
	for player := range p.sent {
		add(player)
	}
	for player := range p.changes {
		if len(sent) >= most {
			break
		}
		if _, added := sent[player]; !added {
			add(player)
		}
	}
	if p.sent = sent; len(sent) > 0 {
		p.serial++
	}
	next.Serial = p.serial
	return next
}

// Confirm is called with the mark in Redis' reply to the changes that Next returned last, and reports whether Redis has applied them. A
// mark other than before says that it has not, and that it has lost this instance's players: all of them must be sent again.
func (p *Presence) Confirm(mark int64) bool {
	same := mark == p.mark
	if same {
		p.removeApplied()
	} else {
		p.mark = mark
		p.sendAllAgain()
	}
	p.since, p.sent = p.serial, nil
	return same
}

// removeApplied removes the changes that Redis has applied and that were not undone since.
func (p *Presence) removeApplied() {
	for player, here := range p.sent {
		if p.changes[player] == here {
			p.forget(player)
		}
	}
}

func (p *Presence) sendAllAgain() {
	p.changes, p.grown = make(map[string]bool, len(p.here)), len(p.here)
	for player := range p.here {
		p.changes[player] = true
	}
}
