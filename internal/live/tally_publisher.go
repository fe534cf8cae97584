package live

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"redrain/internal/game"
	"redrain/internal/wire"
)

const (
	topSize     = 10
	winnersSize = 10
	// tallyHeartbeat is after how long an unchanged tally is published again. The loop's interval comes on top, so there is a tally at
	// least every 2 s.
	tallyHeartbeat = 1400 * time.Millisecond
	// changesPerReport is the most changes of presence in one report. The rest follows soon with the next ones.
	changesPerReport = 500
)

// tallyPublisher sends this instance's reports of a room to Redis and, while the instance holds the room's lease, publishes the tally.
// It is used only by the Redis sync loop.
type tallyPublisher struct {
	room        *Room
	last        wire.Tally // the last that was published
	publishedAt time.Time
	leaseHeld   bool        // by this instance, at the last report
	unpublished *wire.Tally // a tally that is published with the next turn of the loop, when its nicknames may be known
	sweeper     presenceSweeper
}

// report tells Redis who is online here, and publishes the tally if this instance holds the lease.
func (p *tallyPublisher) report(ctx context.Context) error {
	if p.unpublished != nil {
		return p.publish(ctx)
	}
	own, round := p.room.makeReport()
	all, err := p.room.opts.Pool.Report(ctx, p.room.code, own, leaseDuration)
	if err != nil {
		return err //nolint:wrapcheck // the caller says what for
	}
	p.room.confirmReport(all.Mark)
	p.sweeper.garbage = all.Garbage
	p.recordLease(all.Epoch != 0)
	if all.Epoch == 0 || time.Since(p.publishedAt) < activeInterval {
		return nil
	}
	tally, err := p.room.makeTally(ctx, round, all)
	if err != nil {
		return err
	}
	p.unpublished = &tally
	if p.room.requestNicknames(&tally) {
		return nil
	}
	return p.publish(ctx)
}

// recordLease counts a change of who publishes the tally.
func (p *tallyPublisher) recordLease(held bool) {
	if held != p.leaseHeld {
		p.leaseHeld = held
		if changes := p.room.opts.LeaseChanges; changes != nil {
			changes.Inc()
		}
	}
}

// publish publishes the unpublished tally with the nicknames that are known by now, unless the last one is the same and not too old.
func (p *tallyPublisher) publish(ctx context.Context) error {
	tally := *p.unpublished
	p.unpublished = nil
	fillNicknames(&tally, p.room.findNickname)
	if p.isUnchanged(tally) && time.Since(p.publishedAt) < tallyHeartbeat {
		return nil
	}
	tally.Serial = p.last.Serial + 1
	if tally.Epoch != p.last.Epoch {
		tally.Serial = 1
	}
	if err := p.room.opts.Pool.PublishTally(ctx, p.room.code, wire.Encode(tally)); err != nil {
		return err //nolint:wrapcheck // the caller says what for
	}
	p.last, p.publishedAt = tally, time.Now()
	return nil
}

func (p *tallyPublisher) isUnchanged(tally wire.Tally) bool {
	tally.Serial, tally.At = p.last.Serial, p.last.At
	return reflect.DeepEqual(tally, p.last)
}

// releaseLease makes the last report, without players, so that another instance can take the lease at once.
func (p *tallyPublisher) releaseLease() {
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	own, _ := p.room.makeReport()
	own.Online, own.Changes = 0, game.Changes{}
	if _, err := p.room.opts.Pool.Report(ctx, p.room.code, own, 0); err != nil {
		p.room.opts.Log.Warn("cannot give a room's lease back, it ends by itself", "room", p.room.code, "error", err)
	}
}

// makeReport returns this instance's next report, and the round that it is about.
func (r *Room) makeReport() (game.Report, game.Round) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle.expire(r.removeSession)
	report := game.Report{Online: r.presence.Online(), Changes: r.presence.Next(changesPerReport)}
	if r.state == nil || !r.state.round.Phase.Active() {
		report.Arrivals = r.arrivals.list(r.sessions)
	}
	if r.state == nil {
		return report, game.Round{}
	}
	report.Round, report.Taps = r.state.round.ID, r.state.taps
	return report, r.state.round
}

// confirmReport is called when Redis has replied to a report. If Redis applied its changes and there are more, the next report follows
// soon. If Redis had lost this instance's presence, it is reported anew at the usual interval.
func (r *Room) confirmReport(mark int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.presence.Confirm(mark) && r.presence.HasChanges() {
		wakeLoop(r.redisWake)
	}
}

// makeTally makes the tally of a round as it is in Redis now, without nicknames and without Serial.
func (r *Room) makeTally(ctx context.Context, round game.Round, all game.Reports) (wire.Tally, error) {
	r.mu.Lock()
	last := r.tally
	r.mu.Unlock()
	tally, err := countRound(ctx, r.opts, round, last)
	tally.Epoch, tally.At, tally.Online, tally.Taps = all.Epoch, all.Now, all.Online, all.Taps
	tally.Arrivals = tallyArrivals(all.Arrivals)
	return tally, err
}

// countRound makes a tally of what was claimed in a round, without nicknames. While the keys of an active round are lost, it returns
// the last tally of it.
func countRound(ctx context.Context, opts *Options, round game.Round, last wire.Tally) (wire.Tally, error) {
	tally := wire.Tally{Round: round.ID, Top: []wire.Rank{}, Winners: []wire.Claim{}, Arrivals: []wire.Arrival{}, Type: wire.TypeTally}
	if round.ID == "" {
		return tally, nil
	}
	snapshot, err := opts.Pool.Snapshot(ctx, round.ID, topSize, winnersSize)
	switch {
	case isKeysLost(err) && round.Phase.Active() && last.Round == round.ID:
		return last, nil
	case isKeysLost(err): // not opened yet, or over for long: SQL has what was claimed
		snapshot = game.Standing{Left: game.Total{
			Packets: round.Settings.Packets - round.Claimed.Packets, Cents: round.Settings.Total - round.Claimed.Cents,
		}}
	case err != nil:
		return tally, fmt.Errorf("count a round: %w", err)
	}
	tally.LeftPackets, tally.LeftCents = snapshot.Left.Packets, snapshot.Left.Cents
	tally.ClaimedPackets = round.Settings.Packets - snapshot.Left.Packets
	tally.ClaimedCents = round.Settings.Total - snapshot.Left.Cents
	for i, rank := range snapshot.Top {
		tally.Top = append(tally.Top, wire.Rank{Rank: i + 1, Player: rank.Player, Cents: rank.Cents})
	}
	for _, claim := range snapshot.Latest[:min(len(snapshot.Latest), winnersSize)] {
		tally.Winners = append(tally.Winners, wire.ClaimOf(round.ID, claim))
	}
	return tally, nil
}

// Tally returns a tally of any round, for the API. Who is online, and the arrivals, are those of the last published tally that this
// instance received.
func (r *Rooms) Tally(ctx context.Context, round game.Round) (wire.Tally, error) {
	last := r.lastTally(round)
	tally, err := countRound(ctx, &r.opts, round, last)
	if err != nil {
		return tally, err
	}
	if players := listPlayers(&tally); len(players) > 0 {
		found, err := r.opts.Books.Nicknames(ctx, players)
		if err != nil {
			return tally, fmt.Errorf("read nicknames: %w", err)
		}
		fillNicknames(&tally, func(player string) string { return found[player] })
	}
	if last.Round == round.ID {
		tally.Epoch, tally.Serial, tally.At, tally.Online, tally.Taps = last.Epoch, last.Serial, last.At, last.Online, last.Taps
		tally.Arrivals = last.Arrivals
	}
	return tally, nil
}

// lastTally is the latest tally that this instance received for a round's room.
func (r *Rooms) lastTally(round game.Round) wire.Tally {
	room := r.find(round.Room)
	if room == nil {
		return wire.Tally{}
	}
	room.mu.Lock()
	defer room.mu.Unlock()
	return room.tally
}

// listPlayers returns the players whose nicknames a tally shows.
func listPlayers(t *wire.Tally) []string {
	players := make([]string, 0, len(t.Top)+len(t.Winners)+len(t.Arrivals))
	for _, rank := range t.Top {
		players = append(players, rank.Player)
	}
	for _, claim := range t.Winners {
		players = append(players, claim.Player)
	}
	for _, arrival := range t.Arrivals {
		players = append(players, arrival.Player)
	}
	return players
}

// fillNicknames fills in the nicknames that find returns. An arrival without one is left out. The tally's lists are replaced, because
// other tallies may share them.
func fillNicknames(t *wire.Tally, find func(player string) string) {
	t.Top, t.Winners = slices.Clone(t.Top), slices.Clone(t.Winners)
	for i := range t.Top {
		t.Top[i].Nickname = find(t.Top[i].Player)
	}
	for i := range t.Winners {
		t.Winners[i].Nickname = find(t.Winners[i].Player)
	}
	arrivals := []wire.Arrival{}
	for _, arrival := range t.Arrivals {
		if arrival.Nickname = find(arrival.Player); arrival.Nickname != "" {
			arrivals = append(arrivals, arrival)
		}
	}
	t.Arrivals = arrivals
}

// requestNicknames requests the nicknames of a tally, and reports whether the tally should wait for them.
func (r *Room) requestNicknames(t *wire.Tally) bool {
	players := listPlayers(t)
	if r.nicknames.request(players) {
		wakeLoop(r.sqlWake)
	}
	return r.nicknames.shouldWait(players)
}

// findNickname returns what SQL returned last, or else the nickname with which a player joined here; empty: it is not known, or the
// player is blocked.
func (r *Room) findNickname(player string) string {
	nickname, known := r.nicknames.get(player)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.blocked[player] {
		return ""
	}
	if known {
		return nickname
	}
	if session := r.sessions[player]; session != nil {
		return session.nickname
	}
	return ""
}
