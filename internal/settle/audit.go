package settle

import (
	"context"
	"fmt"
	"math"
	"time"

	"redrain/internal/game"
)

// audit is how far a round was compared with its books: verified are the first claims, counted and summed in the ledger,
// and mark is a watermark that the ledger had not passed when it was taken.
type audit struct {
	verified game.Total
	mark     *game.Watermark
	highest  int // claims that Redis had granted at some time
	warned   time.Time
}

// compare holds the ledger, read first, against Redis, read after it. It returns in what they differ; nothing while they
// agree, or cannot be compared yet.
func (c *clerk) compare(ctx context.Context, account game.Account, mark game.Watermark) (why string, err error) {
	at := c.audit.mark
	if mark.Drained() {
		at = &mark
	}
	if at == nil {
		c.audit.mark = &mark
		return "", nil
	}
	if !mark.Passed(*at) {
		return "", nil
	}
	c.audit.mark = nil
	// Numbers that Redis forgot with the host's knowledge are in the ledger, and in what was accepted.
	booked, err := c.bookedUpTo(ctx, max(at.Claimed.Packets, account.LossAcceptedUpTo))
	if err != nil {
		return "", err
	}
	granted := game.Total{Packets: at.Claimed.Packets + account.Accepted.Packets, Cents: at.Claimed.Cents + account.Accepted.Cents}
	if booked != granted {
		return fmt.Sprintf("the ledger holds %d claims of %d cents, granted are %d of %d", booked.Packets, booked.Cents,
			granted.Packets, granted.Cents), nil
	}
	return "", nil
}

// bookedUpTo sums the claims that the ledger holds up to a number, and those above the round's packets that were booked for
// a host who accepted them. What was summed before is not read again.
func (c *clerk) bookedUpTo(ctx context.Context, number int) (game.Total, error) {
	from := c.audit.verified
	if from.Packets > number {
		from = game.Total{}
	}
	more, err := c.books.SumClaims(ctx, c.round.ID, from.Packets, number)
	if err != nil {
		return game.Total{}, err
	}
	booked := game.Total{Packets: from.Packets + more.Packets, Cents: from.Cents + more.Cents}
	if booked.Packets == number { // no gap: the next sum can go on from here
		c.audit.verified = booked
	}
	extra, err := c.books.SumClaims(ctx, c.round.ID, c.round.Settings.Packets, math.MaxInt32)
	return game.Total{Packets: booked.Packets + extra.Packets, Cents: booked.Cents + extra.Cents}, err
}

// backwards tells whether Redis has granted fewer claims than it once had: it lost some, and would grant their numbers anew.
// What the host has excused was known when the round was released.
func backwards(granted, excused int, mark game.Watermark) string {
	if mark.Claimed.Packets >= granted || granted <= excused {
		return ""
	}
	return fmt.Sprintf("claim %d had been granted, and redis knows of %d only", granted, mark.Claimed.Packets)
}

// forget lets a frozen round begin anew. What it had granted once, and Redis forgot, goes into the ledger before: whoever
// releases the round excuses that too.
func (c *clerk) forget(ctx context.Context, granted int, mark game.Watermark) error {
	if granted > mark.Claimed.Packets {
		if _, _, err := c.books.NoteLost(ctx, c.round.ID, granted); err != nil {
			return err
		}
	}
	c.audit = audit{warned: c.audit.warned}
	return nil
}

// watchExpiry raises an alarm when the keys of an unsettled round near their end.
func (c *clerk) watchExpiry(mark game.Watermark) {
	left := time.Duration(mark.ExpiresAt-mark.Now) * time.Millisecond
	if left > c.options.AlarmBefore || time.Since(c.audit.warned) < time.Hour {
		return
	}
	c.audit.warned = time.Now()
	c.counts.expiring.Add(1)
	c.log.Error("an unsettled round's keys expire soon", "round", c.round.ID, "room", c.round.Room, "left", left)
}
