package rdb

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"redrain/internal/game"
)

// reportLifetime is how long a room's lease and reports outlive its last instance.
const reportLifetime = 24 * time.Hour

// freshFor is how long an instance's players count as online after its last report.
const freshFor = 2 * time.Second

// sweepPage is about how many players one call of Sweep looks at. The embedded Redis looks at all.
const sweepPage = 1000

// Report tells what this instance knows of a room, takes or keeps the room's lease for the given time if it can, and returns
// what all instances know together. A lease of 0 gives the room up.
func (c *Client) Report(ctx context.Context, room string, own game.Report, lease time.Duration) (game.Reports, error) {
	asked, told := time.Now(), own.Changes
	r, err := c.call(ctx, reportScript, []string{leaseKey(room), reportsKey(room), presenceKey(room)},
		c.instance, own.Round, own.Online, own.Taps,
		lease.Milliseconds(), freshFor.Milliseconds(), reportLifetime.Milliseconds(), arrivalsText(own.Arrivals),
		told.Mark, told.Since, told.Serial, told.Unsent, strings.Join(told.Joined, " "), strings.Join(told.Left, " "))
	if err != nil {
		return game.Reports{}, err
	}
	all := game.Reports{Now: c.updateClock(asked, r.integer()), Epoch: r.integer(), Online: int(r.integer()), Taps: r.integer()}
	all.Arrivals, err = parseArrivals(r.text())
	all.Mark, all.Garbage = r.integer(), int(r.integer())
	if err != nil || r.err != nil || r.more() {
		return game.Reports{}, fmt.Errorf("report.lua: %w", errBadReply)
	}
	return all, nil
}

// Sweep removes one page of the garbage that Report told of. The cursor is "0" at first, then that of the call before, and "0"
// again when everything has been looked at.
func (c *Client) Sweep(ctx context.Context, room, cursor string) (game.Swept, error) {
	r, err := c.call(ctx, sweepScript, []string{presenceKey(room)}, cursor, sweepPage)
	if err != nil {
		return game.Swept{}, err
	}
	swept := game.Swept{Cursor: r.text(), Removed: int(r.integer())}
	if r.err != nil || r.more() {
		return game.Swept{}, fmt.Errorf("sweep.lua: %w", errBadReply)
	}
	return swept, nil
}

// arrivalsText is how arrivals are kept: a moment and an id each, which has no spaces.
func arrivalsText(arrivals []game.Arrival) string {
	words := make([]string, 0, 2*len(arrivals))
	for _, a := range arrivals {
		words = append(words, strconv.FormatInt(int64(a.At), 10), a.Player)
	}
	return strings.Join(words, " ")
}

func parseArrivals(text string) ([]game.Arrival, error) {
	words := strings.Fields(text)
	if len(words)%2 != 0 {
		return nil, errBadReply
	}
	var arrivals []game.Arrival
	for i := 0; i < len(words); i += 2 {
		at, err := strconv.ParseInt(words[i], 10, 64)
		if err != nil {
			return nil, errBadReply
		}
		arrivals = append(arrivals, game.Arrival{Player: words[i+1], At: game.Moment(at)})
	}
	return arrivals, nil
}
