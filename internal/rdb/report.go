package rdb

import (
	"context"
	"fmt"
	"time"

	"redrain/internal/game"
)

// reportLifetime is how long a room's lease and reports outlive its last instance.
const reportLifetime = 24 * time.Hour

// freshFor is how long an instance's players count as online after its last report.
const freshFor = 2 * time.Second

// Report tells what this instance knows of a room, takes or keeps the room's lease for the given time if it can, and returns
// what all instances know together. A lease of 0 gives the room up.
func (c *Client) Report(ctx context.Context, room string, own game.Report, lease time.Duration) (game.Reports, error) {
	asked := time.Now()
	r, err := c.call(ctx, reportScript, []string{leaseKey(room), reportsKey(room)}, c.instance, own.Round, own.Online, own.Taps,
		lease.Milliseconds(), freshFor.Milliseconds(), reportLifetime.Milliseconds())
	if err != nil {
		return game.Reports{}, err
	}
	all := game.Reports{Now: c.took(asked, r.integer()), Epoch: r.integer(), Online: int(r.integer()), Taps: r.integer()}
	if r.err != nil || r.more() {
		return game.Reports{}, fmt.Errorf("report.lua: %w", errShape)
	}
	return all, nil
}
