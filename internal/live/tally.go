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
	// heartbeat is the age at which a tally is repeated; with the loop's pace on top, there is one every 2 s.
	heartbeat = 1400 * time.Millisecond
	// changesAtOnce bounds how many players one report tells of: what is left goes with the next, soon.
	changesAtOnce = 500
)

// desk is where one instance reports for a room and, while it holds the room's lease, writes the tally. It belongs to the
// loop that reads Redis alone.
type desk struct {
	room      *Room
	last      wire.Tally
	published time.Time
	waiting   *wire.Tally // is published once its names are known, or with the loop's next turn
	broom     broom
}

// report tells Redis who is here and publishes the tally if it is this instance's to do.
func (d *desk) report(ctx context.Context) error {
	if d.waiting != nil {
		return d.publish(ctx)
	}
	own, round := d.room.own()
	all, err := d.room.opts.Pool.Report(ctx, d.room.code, own, leaseFor)
	if err != nil {
		return err //nolint:wrapcheck // the caller says what for
	}
	d.room.told(all.Mark)
	d.broom.garbage = all.Garbage
	if all.Epoch == 0 || time.Since(d.published) < activePace {
		return nil
	}
	tally, err := d.room.count(ctx, round, all)
	if err != nil {
		return err
	}
	d.waiting = &tally
	if d.room.askForNames(&tally) {
		return nil
	}
	return d.publish(ctx)
}

// publish publishes the tally that waits, under the names that are known by now.
func (d *desk) publish(ctx context.Context) error {
	tally := *d.waiting
	d.waiting = nil
	giveNames(&tally, d.room.nickname)
	if d.same(tally) && time.Since(d.published) < heartbeat {
		return nil
	}
	tally.Serial = d.last.Serial + 1
	if tally.Epoch != d.last.Epoch {
		tally.Serial = 1
	}
	if err := d.room.opts.Pool.PublishTally(ctx, d.room.code, wire.Encode(tally)); err != nil {
		return err //nolint:wrapcheck // the caller says what for
	}
	d.last, d.published = tally, time.Now()
	return nil
}

func (d *desk) same(tally wire.Tally) bool {
	tally.Serial, tally.At = d.last.Serial, d.last.At
	return reflect.DeepEqual(tally, d.last)
}

// giveBack lets another instance take the lease at once.
func (d *desk) giveBack() {
	ctx, cancel := context.WithTimeout(context.Background(), giveBack)
	defer cancel()
	own, _ := d.room.own()
	own.Online, own.Changes = 0, game.Changes{}
	if _, err := d.room.opts.Pool.Report(ctx, d.room.code, own, 0); err != nil {
		d.room.opts.Log.Warn("cannot give a room's lease back, it ends by itself", "room", d.room.code, "error", err)
	}
}

// own is what this instance knows of the room, and the round that it is about.
func (r *Room) own() (game.Report, game.Round) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.vacant.sweep(r.vacate)
	report := game.Report{Online: r.presence.Online(), Changes: r.presence.Next(changesAtOnce)}
	if r.rain == nil || !r.rain.round.Phase.Active() {
		report.Arrivals = r.lobby.newest(r.seats)
	}
	if r.rain == nil {
		return report, game.Round{}
	}
	report.Round, report.Taps = r.rain.round.ID, r.rain.taps
	return report, r.rain.round
}

// told takes note that a report was answered. If it came through and there is more to tell, the next one follows soon; a Redis
// that lost what it knew is told at the usual pace that it did.
func (r *Room) told(mark int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.presence.Told(mark) && r.presence.Waits() {
		wake(r.wake)
	}
}

// count makes the tally of a round as it stands in Redis now, without names; Serial is left to whoever publishes it.
func (r *Room) count(ctx context.Context, round game.Round, all game.Reports) (wire.Tally, error) {
	r.mu.Lock()
	last := r.tally
	r.mu.Unlock()
	tally, err := count(ctx, r.opts, round, last)
	tally.Epoch, tally.At, tally.Online, tally.Taps = all.Epoch, all.Now, all.Online, all.Taps
	tally.Arrivals = arrivalsOf(all.Arrivals)
	return tally, err
}

// count makes a tally without names. While a round's keys are lost, what was last counted holds.
func count(ctx context.Context, opts *Options, round game.Round, last wire.Tally) (wire.Tally, error) {
	tally := wire.Tally{Round: round.ID, Top: []wire.Rank{}, Winners: []wire.Claim{}, Arrivals: []wire.Arrival{}, Type: wire.TypeTally}
	if round.ID == "" {
		return tally, nil
	}
	standing, err := opts.Pool.Snapshot(ctx, round.ID, topSize, winnersSize)
	switch {
	case keysLost(err) && round.Phase.Active() && last.Round == round.ID:
		return last, nil
	case keysLost(err): // not opened yet, or long over: SQL knows what was claimed
		standing = game.Standing{Left: game.Total{
			Packets: round.Settings.Packets - round.Claimed.Packets, Cents: round.Settings.Total - round.Claimed.Cents,
		}}
	case err != nil:
		return tally, fmt.Errorf("count a round: %w", err)
	}
	tally.LeftPackets, tally.LeftCents = standing.Left.Packets, standing.Left.Cents
	tally.ClaimedPackets = round.Settings.Packets - standing.Left.Packets
	tally.ClaimedCents = round.Settings.Total - standing.Left.Cents
	for i, rank := range standing.Top {
		tally.Top = append(tally.Top, wire.Rank{Rank: i + 1, Player: rank.Player, Cents: rank.Cents})
	}
	for _, claim := range standing.Latest[:min(len(standing.Latest), winnersSize)] {
		tally.Winners = append(tally.Winners, wire.ClaimOf(round.ID, claim))
	}
	return tally, nil
}

// Tally counts a round for whoever asks, with who is online as far as this instance heard.
func (r *Rooms) Tally(ctx context.Context, round game.Round) (wire.Tally, error) {
	known := r.known(round)
	tally, err := count(ctx, &r.opts, round, known)
	if err != nil {
		return tally, err
	}
	if players := playersIn(&tally); len(players) > 0 {
		found, err := r.opts.Books.Nicknames(ctx, players)
		if err != nil {
			return tally, fmt.Errorf("read nicknames: %w", err)
		}
		giveNames(&tally, func(player string) string { return found[player] })
	}
	if known.Round == round.ID {
		tally.Epoch, tally.Serial, tally.At, tally.Online, tally.Taps = known.Epoch, known.Serial, known.At, known.Online, known.Taps
		tally.Arrivals = known.Arrivals
	}
	return tally, nil
}

// known is the latest tally that this instance heard of a round's room.
func (r *Rooms) known(round game.Round) wire.Tally {
	room := r.find(round.Room)
	if room == nil {
		return wire.Tally{}
	}
	room.mu.Lock()
	defer room.mu.Unlock()
	return room.tally
}

// playersIn are the players whose names a tally shows.
func playersIn(t *wire.Tally) []string {
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

// giveNames fills the nicknames in. An arrival without one is left out. The tally's lists are replaced: others may share them.
func giveNames(t *wire.Tally, of func(player string) string) {
	t.Top, t.Winners = slices.Clone(t.Top), slices.Clone(t.Winners)
	for i := range t.Top {
		t.Top[i].Nickname = of(t.Top[i].Player)
	}
	for i := range t.Winners {
		t.Winners[i].Nickname = of(t.Winners[i].Player)
	}
	arrivals := []wire.Arrival{}
	for _, arrival := range t.Arrivals {
		if arrival.Nickname = of(arrival.Player); arrival.Nickname != "" {
			arrivals = append(arrivals, arrival)
		}
	}
	t.Arrivals = arrivals
}

// askForNames asks for the names of a tally, and reports whether they are worth waiting for.
func (r *Room) askForNames(t *wire.Tally) bool {
	players := playersIn(t)
	if r.names.want(players) {
		wake(r.wakeBooks)
	}
	return r.names.awaited(players)
}

// nickname is what SQL said last, or else what a player came in under; empty: nobody knows.
func (r *Room) nickname(player string) string {
	if name, known := r.names.of(player); known {
		return name
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if seat := r.seats[player]; seat != nil {
		return seat.nickname
	}
	return ""
}
