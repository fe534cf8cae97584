package live

import (
	"context"
	"fmt"
	"maps"

	"redrain/internal/wire"
)

// BlockableClient is a Client that can be disconnected because its player is blocked. DisconnectBlocked must not block.
type BlockableClient interface{ DisconnectBlocked() }

// syncBlocked reads which players are blocked in this room. Their taps are refused from then on, their clients are disconnected, and
// their nicknames are shown to nobody. Before start it can be called directly.
func (r *Room) syncBlocked(ctx context.Context) error {
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
	return r.runInBroadcastLoop(ctx, func() { r.applyBlocked(blocked) })
}

// applyBlocked sends the latest tally again if it shows a player who is blocked now, so that their name leaves the pages at once.
func (r *Room) applyBlocked(blocked map[string]bool) {
	r.mu.Lock()
	if !maps.Equal(r.blocked, blocked) {
		r.nicknames.invalidate() // books that were read while somebody was blocked do not have their nickname
		wakeLoop(r.redisWake)
	}
	r.blocked = blocked
	r.disconnectBlocked()
	hidden := hideNicknames(&r.tally, blocked)
	tally := r.tally
	r.mu.Unlock()
	if hidden {
		r.broadcastTally(wire.Encode(tally))
	}
}

// disconnectBlocked needs mu.
func (r *Room) disconnectBlocked() {
	for player, session := range r.sessions {
		r.arrivals.stale = r.arrivals.stale || session.blocked != r.blocked[player]
		session.blocked = r.blocked[player]
		if !session.blocked {
			continue
		}
		for _, c := range session.clients {
			if client, ok := c.(BlockableClient); ok {
				client.DisconnectBlocked()
			}
		}
	}
}

// hideNicknames removes the nicknames of blocked players from a tally, and reports whether it had any. The tally's lists are replaced,
// because other tallies may share them.
func hideNicknames(t *wire.Tally, blocked map[string]bool) (hidden bool) {
	nicknames := make(map[string]string)
	hide := func(player, nickname string) {
		if blocked[player] {
			hidden, nickname = hidden || nickname != "", ""
		}
		nicknames[player] = nickname
	}
	for _, rank := range t.Top {
		hide(rank.Player, rank.Nickname)
	}
	for _, claim := range t.Winners {
		hide(claim.Player, claim.Nickname)
	}
	for _, arrival := range t.Arrivals {
		hide(arrival.Player, arrival.Nickname)
	}
	if hidden {
		fillNicknames(t, func(player string) string { return nicknames[player] })
	}
	return hidden
}
