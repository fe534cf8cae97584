package game

// Changes is what an instance tells Redis of who came to a room and who left it. Redis keeps a mark with each player for each
// instance where they are, so it counts a player once.
type Changes struct {
	Mark         int64 // the instance's own, as far as it knows; 0: none
	Since        int64 // the serial of the changes that are known to have come through
	Serial       int64 // of these changes; the same as before if there are none
	Joined, Left []string
	Unsent       int // by how many the marks will grow with the changes that are yet to be told
}

// Presence is who is in a room at one instance, and what Redis has yet to be told of it. The zero value is an empty room. Not safe
// for concurrent use.
type Presence struct {
	here map[string]struct{}
	// changes are the players of whom Redis may not know whether they are here, and grown is how many more of them are than not.
	changes map[string]bool
	grown   int
	sent    map[string]bool // of the changes, those that were told and may have come through or not
	mark    int64
	since   int64
	serial  int64
}

// Enter takes a player in.
func (p *Presence) Enter(player string) {
	if _, here := p.here[player]; !here {
		if p.here == nil {
			p.here, p.changes = make(map[string]struct{}), make(map[string]bool)
		}
		p.here[player] = struct{}{}
		p.change(player, true)
	}
}

// Leave takes a player out.
func (p *Presence) Leave(player string) {
	if _, here := p.here[player]; here {
		delete(p.here, player)
		p.change(player, false)
	}
}

// Online is how many players are here.
func (p *Presence) Online() int { return len(p.here) }

// Waits reports whether there is something to tell.
func (p *Presence) HasChanges() bool { return len(p.changes) > 0 }

// change takes note of a change, which undoes one before it unless Redis may know of that.
func (p *Presence) change(player string, here bool) {
	_, waits := p.changes[player]
	_, sent := p.sent[player]
	p.forget(player)
	if !waits || sent {
		p.changes[player] = here
		p.grown += grows(here)
	}
}

func (p *Presence) forget(player string) {
	if here, waits := p.changes[player]; waits {
		p.grown -= grows(here)
		delete(p.changes, player)
	}
}

func grows(here bool) int {
	if here {
		return 1
	}
	return -1
}

// Next returns up to most changes to tell. What was told before and may not have come through comes first, as it is now: once
// these came through, it is known again what Redis has.
func (p *Presence) Next(most int) Changes {
	next := Changes{Mark: p.mark, Since: p.since, Unsent: p.grown}
	sent := make(map[string]bool)
	tell := func(player string) {
		here := p.changes[player]
		sent[player] = here
		next.Unsent -= grows(here)
		if here {
			next.Joined = append(next.Joined, player)
		} else {
			next.Left = append(next.Left, player)
		}
	}
	for player := range p.sent {
		tell(player)
	}
	for player := range p.changes {
		if len(sent) >= most {
			break
		}
		if _, told := sent[player]; !told {
			tell(player)
		}
	}
	if p.sent = sent; len(sent) > 0 {
		p.serial++
	}
	next.Serial = p.serial
	return next
}

// Told takes note that what Next returned last was answered, and reports whether it came through. Another mark than before says
// that it did not, and that Redis has lost what it knew: it is to be told everything anew.
func (p *Presence) Confirm(mark int64) bool {
	same := mark == p.mark
	if same {
		p.settle()
	} else {
		p.mark = mark
		p.restart()
	}
	p.since, p.sent = p.serial, nil
	return same
}

// settle forgets what came through and has not changed since.
func (p *Presence) settle() {
	for player, told := range p.sent {
		if p.changes[player] == told {
			p.forget(player)
		}
	}
}

func (p *Presence) restart() {
	p.changes, p.grown = make(map[string]bool, len(p.here)), len(p.here)
	for player := range p.here {
		p.changes[player] = true
	}
}
