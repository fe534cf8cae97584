package settle

import (
	"context"
	"fmt"
	"math"
	"time"

	"redrain/internal/game"
)

// audit is what a worker remembers from one comparison of a round with its books to the next.
type audit struct {
	verified       game.Total      // number and sum of the first claims in the ledger, summed before
	pendingMark    *game.Watermark // a watermark of Redis with claims that were not booked yet
	highestGranted int             // the most claims that Redis has counted
	warnedAt       time.Time       // when expiring keys were last reported
}

// compareWithRedis compares the ledger with Redis, whose watermark was read after the account. It describes the difference; "" means
// that they agree, or cannot be compared yet.
//
// Claims on their way to the ledger must not count as a difference. So it keeps a watermark until everything granted up to it is
// booked, and then compares the ledger with that watermark.
func (w *worker) compareWithRedis(ctx context.Context, account game.Account, mark game.Watermark) (why string, err error) {
	at := w.audit.pendingMark
	if mark.Drained() {
		at = &mark
	}
	if at == nil {
		w.audit.pendingMark = &mark
		return "", nil
	}
	if !mark.Passed(*at) {
		return "", nil
	}
	w.audit.pendingMark = nil
	// Claims whose loss in Redis the host has accepted are in the ledger, and counted in account.Accepted.
	booked, err := w.sumBooked(ctx, max(at.Claimed.Packets, account.LossAcceptedUpTo))
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

// sumBooked sums the ledger's claims with numbers up to number, and those with numbers beyond the round's packets, which were booked
// because the host accepted them. Claims summed by an earlier call are not read again.
func (w *worker) sumBooked(ctx context.Context, number int) (game.Total, error) {
	from := w.audit.verified
	if from.Packets > number {
		from = game.Total{}
	}
	more, err := w.books.SumClaims(ctx, w.round.ID, from.Packets, number)
	if err != nil {
		return game.Total{}, err
	}
	booked := game.Total{Packets: from.Packets + more.Packets, Cents: from.Cents + more.Cents}
	if booked.Packets == number { // without a gap, so the next sum can continue from here
		w.audit.verified = booked
	}
	extra, err := w.books.SumClaims(ctx, w.round.ID, w.round.Settings.Packets, math.MaxInt32)
	return game.Total{Packets: booked.Packets + extra.Packets, Cents: booked.Cents + extra.Cents}, err
}

// describeLoss returns a description if Redis counts fewer claims than it had granted: it has lost some, and would grant their
// numbers a second time. "": it has lost none, or only claims up to excused, which the host knew of when he released the round.
func describeLoss(granted, excused int, mark game.Watermark) string {
	if mark.Claimed.Packets >= granted || granted <= excused {
		return ""
	}
	return fmt.Sprintf("claim %d had been granted, and redis knows of %d only", granted, mark.Claimed.Packets)
}

// recordLossAndResetAudit is for a frozen round. If Redis has lost claims, the ledger notes up to which number, so that releasing the
// round excuses them. The next comparison starts from the beginning.
func (w *worker) recordLossAndResetAudit(ctx context.Context, granted int, mark game.Watermark) error {
	if granted > mark.Claimed.Packets {
		if _, _, err := w.books.NoteLost(ctx, w.round.ID, granted); err != nil {
			return err
		}
	}
	w.audit = audit{warnedAt: w.audit.warnedAt}
	return nil
}

// warnBeforeExpiry logs an error, once an hour, when the keys of an unsettled round expire soon.
func (w *worker) warnBeforeExpiry(mark game.Watermark) {
	left := time.Duration(mark.ExpiresAt-mark.Now) * time.Millisecond
	if left > w.options.ExpiryAlarmBefore || time.Since(w.audit.warnedAt) < time.Hour {
		return
	}
	w.audit.warnedAt = time.Now()
	w.counts.expiring.Add(1)
	w.log.Error("an unsettled round's keys expire soon", "round", w.round.ID, "room", w.round.Room, "left", left)
}
