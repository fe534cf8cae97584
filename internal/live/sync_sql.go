package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redrain/internal/game"
)

// sqlTimeout limits each step of the SQL sync loop. A slow database may take its time: nothing else waits for it.
const sqlTimeout = 3 * time.Second

// sqlSyncLoop reads which round is the current one, who is blocked, and nicknames, and closes a round that is sold out. While SQL hangs,
// what was read before stays valid, and the other loops go on.
func (r *Room) sqlSyncLoop(ctx context.Context) {
	var lastSync time.Time
	for {
		if r.sqlStale.Swap(false) || time.Since(lastSync) >= resyncInterval {
			lastSync = time.Now()
			r.runStep(ctx, sqlTimeout, "read the room's round", r.readSQLRound)
			r.runStep(ctx, sqlTimeout, "keep blocked players out", r.syncBlocked)
		}
		r.runStep(ctx, sqlTimeout, "close a sold-out round", r.reportSoldOut)
		r.runStep(ctx, sqlTimeout, "read nicknames", r.readNicknames)
		if !r.waitForTurn(ctx, r.sqlWake) {
			return
		}
	}
}

// readSQLRound reads which round is the room's current one. If something of it changed, it is read from Redis again.
func (r *Room) readSQLRound(ctx context.Context) error {
	round, err := r.opts.Books.LastRound(ctx, r.code)
	if errors.Is(err, game.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the room's round: %w", err)
	}
	if before := r.sqlRound.Swap(&round); before == nil || differs(before, &round) {
		r.redisStale.Store(true)
		wakeLoop(r.redisWake)
	}
	return nil
}

// differs compares two rounds, or the same round before and after a change, by everything that can change in a started round.
func differs(a, b *game.Round) bool {
	return a.ID != b.ID || a.Phase != b.Phase || a.Reason != b.Reason || a.Frozen != b.Frozen || a.FreezeReason != b.FreezeReason ||
		a.StartsAt != b.StartsAt
}

// soldOutReport is the last call of Options.SoldOut that succeeded.
type soldOutReport struct {
	round string
	at    time.Time
}

// reportSoldOut calls Options.SoldOut when the round is sold out: once, unless that fails, or the round is not closed by it. Only the
// SQL sync loop may call it.
func (r *Room) reportSoldOut(ctx context.Context) error {
	r.mu.Lock()
	state := r.state
	soldOut := state != nil && state.isSoldOut() && state.round.Phase == game.Raining && state.round.Settings.CloseWhenSoldOut
	r.mu.Unlock()
	if !soldOut || r.opts.SoldOut == nil {
		return nil
	}
	id := state.round.ID
	if r.lastSoldOut.round == id && time.Since(r.lastSoldOut.at) < resyncInterval {
		return nil // it may be closed already: the Redis sync loop has yet to read that
	}
	if err := r.opts.SoldOut(ctx, id); err != nil {
		return err
	}
	r.lastSoldOut = soldOutReport{id, time.Now()}
	return nil
}

// readNicknames reads the nicknames that were requested for tallies.
func (r *Room) readNicknames(ctx context.Context) error {
	players := r.nicknames.nextQuery()
	if len(players) == 0 {
		return nil
	}
	queriedAt := time.Now()
	found, err := r.opts.Books.Nicknames(ctx, players)
	if err != nil {
		return fmt.Errorf("read nicknames: %w", err)
	}
	r.nicknames.store(queriedAt, players, found)
	wakeLoop(r.redisWake)
	return nil
}
