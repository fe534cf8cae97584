package live

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// hostsEvery is in how many beats hosts hear at most once that something changed: ten times a second.
const hostsEvery = parts / 10

// beat is the pace of the speaking loop: drops are sent, phases turned and tallies spread with it.
const beat = time.Second / parts

// wave is a frame on its way to the players, and how many parts of them have yet to get it.
type wave struct {
	frame []byte
	left  int
	phase bool // it tells the round's phase, and is out of date when that changes again
}

// speak is the loop that alone tells the room's members anything that concerns all of them, so that nobody hears
// something older after something newer.
func (r *Room) speak(ctx context.Context) {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for part := 0; ; {
		select {
		case <-ctx.Done():
			return
		case heard := <-r.inbox:
			r.take(heard)
		case do := <-r.work:
			do()
		case <-ticker.C:
			part = (part + 1) % parts
			r.turn(r.opts.Clock.Now())
			r.spread(part)
			if part%hostsEvery == 0 {
				r.tellHosts()
			}
		}
	}
}

// spread gives the players whose turn it is the drops on their way, and the tally, if it is news to them.
func (r *Room) spread(part int) {
	var frames [][]byte
	for i := range r.waves {
		frames = append(frames, r.waves[i].frame)
		r.waves[i].left--
	}
	r.waves = slices.DeleteFunc(r.waves, func(w wave) bool { return w.left == 0 })
	var tally []byte
	if r.spreadOf[part] != r.serial {
		r.spreadOf[part], tally = r.serial, r.latest
	}
	r.audience.toPart(part, frames, tally)
}

// take takes one message from Redis.
func (r *Room) take(heard game.Event) {
	switch {
	case heard.Claims != nil:
		r.claimed(heard.Claims)
	case heard.Tally != nil:
		r.counted(heard.Tally)
	case heard.Notice != nil:
		r.audience.everybody(heard.Notice)
	case heard.ForHosts != "":
		r.news[heard.ForHosts] = true
		r.names.mistrust() // it may be about players
	default: // another round, another phase, other doors, or something was lost: read it
		if heard.Missed {
			r.lost.Store(true)
		}
		r.nudge()
	}
}

// claimed takes note of a batch of claims and tells each to its player's tabs.
func (r *Room) claimed(c *game.Claimed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rain == nil || r.rain.round.ID != c.Round {
		r.nudge()
		return
	}
	if !r.rain.note(c) {
		r.lost.Store(true)
	}
	if (r.rain.soldOut() && !r.rain.final) || r.lost.Load() {
		r.look()
	}
	for _, claim := range c.Claims {
		if seat := r.seats[claim.Player]; seat != nil {
			seat.in(r.rain).heard(claim)
		}
	}
}

// counted takes a tally that is not older than the one known. Hosts and screens hear it now, players in their turn.
func (r *Room) counted(text []byte) {
	var tally wire.Tally
	if err := json.Unmarshal(text, &tally); err != nil {
		r.opts.Log.Error("a tally does not parse", "room", r.code, "error", err)
		return
	}
	r.mu.Lock()
	old := tally.Epoch < r.tally.Epoch || (tally.Epoch == r.tally.Epoch && tally.Serial <= r.tally.Serial)
	if !old {
		r.tally = tally
		if rain := r.rain; rain == nil || rain.round.ID != tally.Round || tally.ClaimedPackets > rain.applied {
			r.lost.Store(true)
			r.nudge()
		}
	}
	r.mu.Unlock()
	if !old {
		r.latest = text
		r.serial++
		r.audience.watching(text)
	}
}

// turn does what time brings: the countdown ends, drops begin to fall.
func (r *Room) turn(now game.Moment) {
	r.mu.Lock()
	rain := r.rain
	if rain == nil {
		r.mu.Unlock()
		return
	}
	var changed []byte
	if rain.round.Phase == game.Countdown && rain.round.StartsAt > 0 && now >= rain.round.StartsAt {
		rain.round.Phase = game.Raining
		changed = r.roundFrame()
	}
	drops, urgent := rain.nextDrops(now)
	id := rain.round.ID
	r.mu.Unlock()
	if changed != nil { // players' pages see it by the clock, and start to tap: they need not all be told in that very moment
		r.audience.toWatchers(changed)
		r.waves = append(r.waves, wave{frame: changed, left: parts, phase: true})
	}
	if len(drops) == 0 {
		return
	}
	frame := wire.Encode(wire.Drops{Round: id, Drops: wire.DropsOf(drops)})
	if urgent {
		r.audience.everybody(frame)
		return
	}
	r.audience.toWatchers(frame)
	r.waves = append(r.waves, wave{frame: frame, left: parts})
}

// begins makes a round the room's current one, as far as SQL knows it: Redis has no keys of it.
func (r *Room) begins(round game.Round) {
	r.mu.Lock()
	changed := r.becomes(round)
	changed = r.rain.withoutKeys(round) || changed
	r.announce(changed)
}

// stands makes known where a round stands.
func (r *Room) stands(round game.Round, standing game.Standing) {
	r.mu.Lock()
	changed := r.becomes(round)
	changed = r.rain.follow(round, standing) || changed
	r.announce(changed)
}

// becomes replaces the rain if the round is another one; under the lock.
func (r *Room) becomes(round game.Round) bool {
	if r.rain != nil && r.rain.round.ID == round.ID {
		return false
	}
	r.rain = newRain(round, r.opts.Clock.Now())
	r.lost.Store(true) // nobody's claims in it have been read
	return true
}

// announce ends a change under the lock and tells everybody of it.
func (r *Room) announce(changed bool) {
	frame := r.roundFrame()
	r.mu.Unlock()
	if changed {
		r.waves = slices.DeleteFunc(r.waves, func(w wave) bool { return w.phase })
		r.audience.everybody(frame)
	}
}

func (r *Room) roundFrame() []byte {
	return wire.Encode(wire.RoundChanged{Round: wire.RoundOf(r.rain.round)})
}
