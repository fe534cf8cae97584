package live

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"redrain/internal/game"
	"redrain/internal/wire"
)

const (
	// shardCount is into how many shards the players of a room are divided. What goes to thousands of phones every second, the tally
	// and the drops, is sent to one shard with each tick. So it is staggered over a second, and answers to taps do not wait behind it.
	shardCount = 40
	// tickInterval is the time between two ticks of the broadcast loop.
	tickInterval = time.Second / shardCount
	// hostNoticeTicks is the number of ticks between two notices to hosts: they are sent at most ten a second.
	hostNoticeTicks = shardCount / 10
)

// broadcastState is what the broadcast loop has yet to send to players, and to hosts.
type broadcastState struct {
	tally       []byte          // the latest
	tallySerial int             // how many tallies there were
	sentSerial  [shardCount]int // tallySerial as of the last tally that was sent to each shard
	staggered   []staggeredFrame
	hostNotices map[string]bool // codes of the notices that hosts are sent next
}

// staggeredFrame is a frame that is being sent to one shard after the other.
type staggeredFrame struct {
	frame      []byte
	shardsLeft int
	isPhase    bool // it contains the round's phase, and is obsolete when that changes again
}

// broadcastLoop is the only sender of frames that go to more than one player. So no client receives an older state after a newer one.
func (r *Room) broadcastLoop(ctx context.Context) {
	ticker := time.NewTicker(tickInterval)
	defer ticker.Stop()
	for shard := 0; ; {
		select {
		case <-ctx.Done():
			return
		case event := <-r.inbox:
			r.handleEvent(event)
		case task := <-r.tasks:
			task()
		case <-ticker.C:
			shard = (shard + 1) % shardCount
			r.advanceTime(r.opts.Clock.Now())
			r.sendStaggered(shard)
			if shard%hostNoticeTicks == 0 {
				r.sendHostNotices()
			}
		}
	}
}

// sendStaggered sends a shard the staggered frames, and the tally if there is a new one.
func (r *Room) sendStaggered(shard int) {
	b := &r.broadcast
	var frames [][]byte
	for i := range b.staggered {
		frames = append(frames, b.staggered[i].frame)
		b.staggered[i].shardsLeft--
	}
	b.staggered = slices.DeleteFunc(b.staggered, func(f staggeredFrame) bool { return f.shardsLeft == 0 })
	var tally []byte
	if b.sentSerial[shard] != b.tallySerial {
		b.sentSerial[shard], tally = b.tallySerial, b.tally
	}
	r.subscribers.sendToShard(shard, frames, tally)
}

// sendHostNotices sends hosts the notices since the last time, each code once: if five hundred players join within a second, that is a
// few notices and not five hundred.
func (r *Room) sendHostNotices() {
	for code := range r.broadcast.hostNotices {
		r.subscribers.sendToHosts(wire.Encode(wire.Notice{Code: code}))
	}
	clear(r.broadcast.hostNotices)
}

func (r *Room) handleEvent(event game.Event) {
	switch {
	case event.Claims != nil:
		r.handleClaims(event.Claims)
	case event.Tally != nil:
		r.handleTally(event.Tally)
	case event.Notice != nil:
		r.subscribers.sendToAll(event.Notice)
	case event.ForHosts != "":
		r.broadcast.hostNotices[event.ForHosts] = true
		r.nicknames.invalidate() // the notice may be about a renamed player
	default: // the round, its phase or the blocked players changed, or events were missed
		if event.Missed {
			r.claimsMissed.Store(true)
		}
		r.requestSync()
	}
}

// handleClaims records a batch of claims, and sends each to the tabs of its player.
func (r *Room) handleClaims(c *game.Claimed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == nil || r.state.round.ID != c.Round {
		r.requestSync()
		return
	}
	if !r.state.recordClaims(c) {
		r.claimsMissed.Store(true)
	}
	if (r.state.isSoldOut() && !r.state.final) || r.claimsMissed.Load() {
		r.requestRedisSync()
	}
	for _, claim := range c.Claims {
		if session := r.sessions[claim.Player]; session != nil {
			session.forRound(r.state).receiveClaim(claim)
		}
	}
}

// handleTally takes a tally unless it is older than the one known. It is sent to hosts and screens now, and to players staggered.
func (r *Room) handleTally(text []byte) {
	var tally wire.Tally
	if err := json.Unmarshal(text, &tally); err != nil {
		r.opts.Log.Error("a tally does not parse", "room", r.code, "error", err)
		return
	}
	r.mu.Lock()
	old := tally.Epoch < r.tally.Epoch || (tally.Epoch == r.tally.Epoch && tally.Serial <= r.tally.Serial)
	if !old {
		if hideNicknames(&tally, r.blocked) { // its publisher had not heard yet that a player is blocked
			text = wire.Encode(tally)
		}
		r.tally = tally
		if r.state == nil || r.state.round.ID != tally.Round || tally.ClaimedPackets > r.state.applied {
			r.claimsMissed.Store(true)
			r.requestSync()
		}
	}
	r.mu.Unlock()
	if !old {
		r.broadcastTally(text)
	}
}

func (r *Room) broadcastTally(text []byte) {
	r.broadcast.tally = text
	r.broadcast.tallySerial++
	r.subscribers.sendLatestToWatchers(text)
}

// advanceTime does what is due by now: it ends the countdown, and sends drops.
func (r *Room) advanceTime(now game.Moment) {
	r.mu.Lock()
	state := r.state
	if state == nil {
		r.mu.Unlock()
		return
	}
	var changed []byte
	if state.round.Phase == game.Countdown && state.round.StartsAt > 0 && now >= state.round.StartsAt {
		state.round.Phase = game.Raining
		changed = r.roundFrame()
	}
	drops, urgent := state.takeDueDrops(now)
	id := state.round.ID
	r.mu.Unlock()
	if changed != nil { // players' pages know the start by their clock, so it need not be sent to all of them at once
		r.subscribers.sendToWatchers(changed)
		r.broadcast.staggered = append(r.broadcast.staggered, staggeredFrame{frame: changed, shardsLeft: shardCount, isPhase: true})
	}
	if len(drops) == 0 {
		return
	}
	frame := wire.Encode(wire.Drops{Round: id, Drops: wire.DropsOf(drops)})
	if urgent {
		r.subscribers.sendToAll(frame)
		return
	}
	r.subscribers.sendToWatchers(frame)
	r.broadcast.staggered = append(r.broadcast.staggered, staggeredFrame{frame: frame, shardsLeft: shardCount})
}

// applyMissingKeys makes a round the current one, and applies that Redis has no keys of it.
func (r *Room) applyMissingKeys(round game.Round) {
	r.mu.Lock()
	changed := r.setCurrentRound(round)
	changed = r.state.applyMissingKeys(round) || changed
	r.unlockAndBroadcastRound(changed)
}

// applySnapshot makes a round the current one, and applies a snapshot of it.
func (r *Room) applySnapshot(round game.Round, snapshot game.Standing) {
	r.mu.Lock()
	changed := r.setCurrentRound(round)
	changed = r.state.applySnapshot(round, snapshot) || changed
	r.unlockAndBroadcastRound(changed)
}

// setCurrentRound begins a new state if the round is not the current one yet, and reports whether it did. Needs mu.
func (r *Room) setCurrentRound(round game.Round) bool {
	if r.state != nil && r.state.round.ID == round.ID {
		return false
	}
	r.state = newRoundState(round, r.opts.Clock.Now())
	r.claimsMissed.Store(true) // no claims in it were read yet
	return true
}

// unlockAndBroadcastRound releases mu, and sends everybody the round if it changed.
func (r *Room) unlockAndBroadcastRound(changed bool) {
	frame := r.roundFrame()
	r.mu.Unlock()
	if changed {
		r.broadcast.staggered = slices.DeleteFunc(r.broadcast.staggered, func(f staggeredFrame) bool { return f.isPhase })
		r.subscribers.sendToAll(frame)
	}
}

// roundFrame needs mu.
func (r *Room) roundFrame() []byte {
	return wire.Encode(wire.RoundChanged{Round: wire.RoundOf(r.state.round)})
}
