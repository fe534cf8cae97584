package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redrain/internal/game"
)

// booksWithin bounds each step of the loop that reads SQL. A slow database may take its time: nothing else waits for it.
const booksWithin = 3 * time.Second

// readBooks is the loop that does the room's work with SQL: which round is the current one, who is blocked, nicknames, and
// closing a round that is sold out. While SQL hangs, what was read before holds, and the other loops go on.
func (r *Room) readBooks(ctx context.Context) {
	var reread time.Time
	for {
		if r.booksStale.Swap(false) || time.Since(reread) >= rereadAfter {
			reread = time.Now()
			r.step(ctx, booksWithin, "read the room's round", r.readRound)
			r.step(ctx, booksWithin, "keep blocked players out", r.keepOut)
		}
		r.step(ctx, booksWithin, "close a sold-out round", r.reportSoldOut)
		r.step(ctx, booksWithin, "read nicknames", r.readNames)
		if !r.rest(ctx, r.wakeBooks) {
			return
		}
	}
}

// readRound reads which round is the room's current one. If SQL says something new of it, the other loop looks at Redis.
func (r *Room) readRound(ctx context.Context) error {
	round, err := r.opts.Books.LastRound(ctx, r.code)
	if errors.Is(err, game.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the room's round: %w", err)
	}
	if before := r.booked.Swap(&round); before == nil || standsElsewhere(before, &round) {
		r.stale.Store(true)
		wake(r.wake)
	}
	return nil
}

// standsElsewhere compares what may change of a round that was begun.
func standsElsewhere(a, b *game.Round) bool {
	return a.ID != b.ID || a.Phase != b.Phase || a.Reason != b.Reason || a.Frozen != b.Frozen || a.FreezeReason != b.FreezeReason ||
		a.StartsAt != b.StartsAt
}

// soldOutReport is what was said last of a round's last packet.
type soldOutReport struct {
	round string
	at    time.Time
}

// reportSoldOut says that the round's last packet is gone: once, unless that fails, or the round does not close by it. Of the loop
// that reads SQL alone.
func (r *Room) reportSoldOut(ctx context.Context) error {
	r.mu.Lock()
	rain := r.rain
	gone := rain != nil && rain.soldOut() && rain.round.Phase == game.Raining && rain.round.Settings.CloseWhenSoldOut
	r.mu.Unlock()
	if !gone || r.opts.SoldOut == nil {
		return nil
	}
	id := rain.round.ID
	if r.saidSoldOut.round == id && time.Since(r.saidSoldOut.at) < rereadAfter {
		return nil // the other loop has yet to read that it is closed
	}
	if err := r.opts.SoldOut(ctx, id); err != nil {
		return err
	}
	r.saidSoldOut = soldOutReport{id, time.Now()}
	return nil
}

// readNames looks up the nicknames that tallies are waiting for.
func (r *Room) readNames(ctx context.Context) error {
	players := r.names.unanswered()
	if len(players) == 0 {
		return nil
	}
	asked := time.Now()
	found, err := r.opts.Books.Nicknames(ctx, players)
	if err != nil {
		return fmt.Errorf("read nicknames: %w", err)
	}
	r.names.learn(asked, players, found)
	wake(r.wake)
	return nil
}
