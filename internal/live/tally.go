package live

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"redrain/internal/game"
	"redrain/internal/wire"
)

const (
	topSize     = 10
	winnersSize = 10
	// heartbeat is the age at which a tally is repeated; with the loop's pace on top, there is one every 2 s.
	heartbeat = 1400 * time.Millisecond
)

// desk is where one instance reports for a room and, while it holds the room's lease, writes the tally. It belongs to the
// reading loop alone.
type desk struct {
	room      *Room
	last      wire.Tally
	published time.Time
	names     names
}

// report tells Redis who is here and publishes the tally if it is this instance's to do.
func (d *desk) report(ctx context.Context) error {
	own, round := d.room.own()
	all, err := d.room.opts.Pool.Report(ctx, d.room.code, own, leaseFor)
	if err != nil || all.Epoch == 0 || time.Since(d.published) < activePace {
		return err //nolint:wrapcheck // the caller says what for
	}
	if d.room.renamed.Swap(false) {
		d.names.known = nil
	}
	tally, err := d.room.count(ctx, &d.names, round, all)
	if err != nil {
		return err
	}
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
	own.Online = 0
	if _, err := d.room.opts.Pool.Report(ctx, d.room.code, own, 0); err != nil {
		d.room.opts.Log.Warn("cannot give a room's lease back, it ends by itself", "room", d.room.code, "error", err)
	}
}

// own is what this instance knows of the room, and the round that it is about.
func (r *Room) own() (game.Report, game.Round) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var report game.Report
	var came newest
	waiting := r.rain == nil || !r.rain.round.Phase.Active()
	for player, seat := range r.seats {
		if len(seat.members) > 0 {
			report.Online++
			if waiting {
				came.add(seat)
			}
		} else if time.Since(seat.empty) > seatFor {
			delete(r.seats, player)
		}
	}
	report.Arrivals = came
	if r.rain == nil {
		return report, game.Round{}
	}
	report.Round, report.Taps = r.rain.round.ID, r.rain.taps
	return report, r.rain.round
}

// count makes the tally of a round as it stands in Redis now; Serial is left to whoever publishes it.
func (r *Room) count(ctx context.Context, names *names, round game.Round, all game.Reports) (wire.Tally, error) {
	tally, err := count(ctx, r.opts, names, round)
	if err != nil {
		return tally, err
	}
	tally.Epoch, tally.At, tally.Online, tally.Taps = all.Epoch, all.Now, all.Online, all.Taps
	tally.Arrivals, err = introduce(ctx, r.opts, names, all.Arrivals)
	return tally, err
}

func count(ctx context.Context, opts *Options, names *names, round game.Round) (wire.Tally, error) {
	tally := wire.Tally{Round: round.ID, Top: []wire.Rank{}, Winners: []wire.Claim{}, Arrivals: []wire.Arrival{}, Type: wire.TypeTally}
	if round.ID == "" {
		return tally, nil
	}
	standing, err := opts.Pool.Snapshot(ctx, round.ID, topSize, winnersSize)
	if errors.Is(err, game.ErrGone) { // not opened yet, or long over: SQL knows what was claimed
		standing = game.Standing{Left: game.Left{
			Packets: round.Settings.Packets - round.Claimed.Packets, Cents: round.Settings.Total - round.Claimed.Cents,
		}}
	} else if err != nil {
		return tally, fmt.Errorf("count a round: %w", err)
	}
	standing.Latest = standing.Latest[:min(len(standing.Latest), winnersSize)]
	if err := names.learn(ctx, opts.Books, playersOf(standing)); err != nil {
		return tally, err
	}
	tally.LeftPackets, tally.LeftCents = standing.Left.Packets, standing.Left.Cents
	tally.ClaimedPackets = round.Settings.Packets - standing.Left.Packets
	tally.ClaimedCents = round.Settings.Total - standing.Left.Cents
	for i, rank := range standing.Top {
		tally.Top = append(tally.Top, wire.Rank{Rank: i + 1, Player: rank.Player, Nickname: names.of(rank.Player), Cents: rank.Cents})
	}
	for _, claim := range standing.Latest {
		row := wire.ClaimOf(round.ID, claim)
		row.Nickname = names.of(claim.Player)
		tally.Winners = append(tally.Winners, row)
	}
	return tally, nil
}

// Tally counts a round for whoever asks, with who is online as far as this instance heard.
func (r *Rooms) Tally(ctx context.Context, round game.Round) (wire.Tally, error) {
	tally, err := count(ctx, &r.opts, &names{}, round)
	if err != nil {
		return tally, err
	}
	if room := r.find(round.Room); room != nil {
		room.mu.Lock()
		defer room.mu.Unlock()
		if known := room.tally; known.Round == round.ID {
			tally.Epoch, tally.Serial, tally.At, tally.Online, tally.Taps = known.Epoch, known.Serial, known.At, known.Online, known.Taps
			tally.Arrivals = known.Arrivals
		}
	}
	return tally, nil
}

func playersOf(s game.Standing) []string {
	var players []string
	for _, rank := range s.Top {
		players = append(players, rank.Player)
	}
	for _, claim := range s.Latest {
		players = append(players, claim.Player)
	}
	return players
}

// names remembers nicknames; they hardly change, and a tally every 250 ms should not ask for them again.
type names struct {
	known map[string]string
	since time.Time
}

// forgetNames bounds how long a changed nickname is shown where the change was not heard of, and how much is remembered.
const forgetNames = 30 * time.Second

func (n *names) of(player string) string { return n.known[player] }

func (n *names) learn(ctx context.Context, books Books, players []string) error {
	if n.known == nil || time.Since(n.since) > forgetNames {
		n.known, n.since = make(map[string]string), time.Now()
	}
	var unknown []string
	for _, player := range players {
		if _, ok := n.known[player]; !ok {
			n.known[player] = ""
			unknown = append(unknown, player)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	found, err := books.Nicknames(ctx, unknown)
	if err != nil {
		n.known = nil
		return fmt.Errorf("read nicknames: %w", err)
	}
	for player, nickname := range found {
		n.known[player] = nickname
	}
	return nil
}
