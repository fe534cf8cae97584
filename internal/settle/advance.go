package settle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redrain/internal/game"
)

// advance compares the round with its books and takes it further where both allow: the refund, settled, and the last time to
// live of its keys. done: nothing is left to do.
func (c *clerk) advance(ctx context.Context) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*stepFor)
	defer cancel()
	account, err := c.books.Account(ctx, c.round.ID)
	if err != nil {
		return false, err
	}
	granted := max(account.Highest, c.audit.highest) // before Redis is asked, which may only know of more
	mark, err := c.outbox.Watermark(ctx, c.round.ID)
	if errors.Is(err, game.ErrGone) {
		_, done, err = c.withoutKeys(ctx)
		return done, err
	}
	if err != nil {
		return false, err
	}
	c.round = account.Round
	if account.Phase == game.Settled {
		return true, c.retire(ctx)
	}
	c.watchExpiry(mark)
	c.unsure = mark.Pending > 0                     // perhaps to this process, though it has nothing in hand: a Redis that restarted forgets
	if account.FreezeVersion < mark.FreezeVersion { // somebody froze or released it since the ledger was read: look again
		return false, c.wantFreeze(ctx, mark.FreezeVersion)
	}
	if account.FreezeVersion > mark.FreezeVersion || account.Frozen != mark.Frozen { // whoever did that died between the two
		err := c.outbox.SetFrozen(ctx, c.round)
		if err != nil || !account.Frozen {
			return false, err
		}
	}
	if account.Frozen {
		return false, c.forget(ctx, granted, mark)
	}
	if why := backwards(granted, account.Excused, mark); why != "" {
		return false, c.lost(ctx, c.round.ID, granted, why)
	}
	c.audit.highest = mark.Claimed.Packets
	why, err := c.compare(ctx, account, mark)
	if err != nil {
		return false, err
	}
	if why != "" {
		return false, c.freeze(ctx, c.round, why)
	}
	if account.Refund == nil || !mark.Quiet() {
		return false, nil
	}
	return c.finish(ctx, account, mark)
}

// wantFreeze is an error if the ledger does not know of a freeze or a release that Redis was told of: it has been set back.
func (c *clerk) wantFreeze(ctx context.Context, version int64) error {
	account, err := c.books.Account(ctx, c.round.ID)
	if err == nil && account.FreezeVersion < version {
		err = fmt.Errorf("redis was told of freeze %d of the round, and the ledger knows of %d only", version, account.FreezeVersion)
	}
	return err
}

// finish applies the refund of a round whose claims are all booked, and settles it.
func (c *clerk) finish(ctx context.Context, account game.Account, mark game.Watermark) (done bool, err error) {
	step, err := c.books.ApplyRefund(ctx, c.round.ID)
	switch {
	case err != nil:
		return false, err
	case step == game.RefundTorn:
		return false, c.freeze(ctx, c.round, "the refund can never agree with the claims in the ledger")
	case step == game.RefundWaiting: // though nothing is on its way
		return false, c.freeze(ctx, c.round, "the ledger holds fewer claims than were granted")
	case step != game.RefundApplied || mark.Phase != game.Closed:
		return false, nil
	}
	return c.settled(ctx, account)
}

// settled takes a round whose refund is applied to its last phase. It closes it in SQL where nobody has come to that yet.
func (c *clerk) settled(ctx context.Context, account game.Account) (done bool, err error) {
	if c.round.Phase.Active() {
		if c.round, err = c.books.NoteClosed(ctx, c.round.ID, account.Refund.Reason, account.Refund.Claimed); err != nil {
			return false, err
		}
	}
	if c.round, err = c.books.NoteSettled(ctx, c.round.ID); err != nil || c.round.Phase != game.Settled {
		return false, err
	}
	c.log.Info("round is settled", "round", c.round.ID, "room", c.round.Room, "claims", c.round.Claimed.Packets,
		"claimed_cents", int64(c.round.Claimed.Cents), "refund_cents", int64(c.round.Settings.Total-c.round.Claimed.Cents))
	return true, c.retire(ctx)
}

// retire lets a settled round's keys expire, and tells the room.
func (c *clerk) retire(ctx context.Context) error {
	if err := c.outbox.Retire(ctx, c.round, c.options.Retention); err != nil {
		return err
	}
	return c.books.NoteRetired(ctx, c.round.ID)
}

// withoutKeys deals with a round that has no outbox: not open yet, or lost.
func (c *clerk) withoutKeys(ctx context.Context) (wait time.Duration, done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, stepFor)
	defer cancel()
	account, err := c.books.Account(ctx, c.round.ID)
	if err != nil {
		return 0, false, err
	}
	c.round = account.Round
	switch {
	case account.Phase == game.Settled:
		return 0, true, c.books.NoteRetired(ctx, c.round.ID)
	case account.Phase != game.Closed || account.Frozen: // whoever keeps rounds, or the host, comes first
		return quietPause, false, nil
	}
	if c.options.Embedded || account.Reason == game.Interrupted {
		if err := c.books.Interrupt(ctx, c.round.ID); err != nil {
			return 0, false, err
		}
		if account, err = c.books.Account(ctx, c.round.ID); err != nil {
			return 0, false, err
		}
	}
	step, err := c.books.ApplyRefund(ctx, c.round.ID)
	if err == nil && step == game.RefundApplied {
		done, err = c.settled(ctx, account)
		return quietPause, done, err
	}
	if err == nil {
		err = c.freeze(ctx, c.round, "its keys were lost before all of its claims were booked")
	}
	return quietPause, false, err
}
