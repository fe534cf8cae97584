package live

import (
	"context"
	"fmt"

	"redrain/internal/wire"
)

// Expellable is a Member that can be sent away for good. Expel does not block.
type Expellable interface{ Expel() }

// keepOut reads who is blocked in this room: their taps are refused from then on, and their connections end.
func (r *Room) keepOut(ctx context.Context) error {
	if r.opts.Blocked == nil {
		return nil
	}
	ids, err := r.opts.Blocked(ctx, r.code)
	if err != nil {
		return fmt.Errorf("read who is blocked: %w", err)
	}
	blocked := make(map[string]bool, len(ids))
	for _, id := range ids {
		blocked[id] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for player, seat := range r.seats {
		r.lobby.stale = r.lobby.stale || seat.blocked != blocked[player]
		seat.blocked = blocked[player]
		if !seat.blocked {
			continue
		}
		for _, m := range seat.members {
			if member, ok := m.(Expellable); ok {
				member.Expel()
			}
		}
	}
	return nil
}

// tellHosts gives the hosts' pages what has changed since the last beat: a whole company that joins within a second is one
// notice, not five hundred. Of the speaking loop alone.
func (r *Room) tellHosts() {
	for code := range r.news {
		r.audience.hosting(wire.Encode(wire.Notice{Code: code}))
	}
	clear(r.news)
}
