package settle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redrain/internal/game"
)

// errWithoutKeys says that a round must go on without what Redis had of it.
var errWithoutKeys = errors.New("the round has no keys to go on with")

// advance compares the round with its books and takes it further where both allow: the refund, settled, and the last time to
// live of its keys. done: nothing is left to do. errWithoutKeys: Redis has nothing to compare with.
func (c *clerk) advance(ctx context.Context) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*stepFor)
	defer cancel()
	account, err := c.books.Account(ctx, c.round.ID)
	if err != nil {
		return false, err
	}
	granted := max(account.Highest, c.audit.highest) // before Redis is asked, which may only know of more
	mark, err := c.outbox.Watermark(ctx, c.round.ID)
	c.round = account.Round
	switch {
	case errors.Is(err, game.ErrGone):
		return false, errWithoutKeys
	case errors.Is(err, game.ErrTorn):
		return false, c.repair(ctx, account)
	case err != nil:
		return false, err
	}
	c.watchExpiry(mark)
	c.unsure = mark.Pending > 0 // perhaps to this process, though it has nothing in hand: a Redis that restarted forgets
	if account.Phase == game.Settled {
		return c.watchSettled(ctx, mark)
	}
	if again, err := c.syncFreeze(ctx, mark); err != nil || again {
		return false, err
	}
	return c.compareAndFinish(ctx, account, mark, granted)
}

// compareAndFinish takes a round further that Redis and the ledger agree to be frozen, or not.
func (c *clerk) compareAndFinish(ctx context.Context, account game.Account, mark game.Watermark, granted int) (done bool, err error) {
	if why := backwards(granted, account.LossAcceptedUpTo, mark); why != "" && !account.Frozen {
		return false, c.lost(ctx, c.round.ID, granted, why)
	}
	if account.Phase == game.Closed && mark.Phase != game.Closed {
		return false, c.closeAgain(ctx)
	}
	if account.Frozen {
		return false, c.forget(ctx, granted, mark)
	}
	c.audit.highest = mark.Claimed.Packets
	why, err := c.compare(ctx, account, mark)
	if err != nil {
		return false, err
	}
	if why != "" {
		return false, c.freeze(ctx, c.round, game.FrozenBooksDiffer, why)
	}
	if account.Refund == nil || !mark.Drained() {
		return false, nil
	}
	return c.finish(ctx, account, mark)
}

// syncFreeze brings the flag in Redis to what the ledger says: whoever froze or released the round may have died between the
// two, and Redis may have lost it. again: look at the round again first.
func (c *clerk) syncFreeze(ctx context.Context, mark game.Watermark) (again bool, err error) {
	switch {
	case c.round.FreezeVersion < mark.FreezeVersion: // somebody froze or released it since the ledger was read
		return true, c.wantFreeze(ctx, mark.FreezeVersion)
	case c.round.FreezeVersion == mark.FreezeVersion && c.round.Frozen == mark.Frozen:
		return false, nil
	}
	return !c.round.Frozen, c.outbox.SetFrozen(ctx, c.round)
}

// closeAgain closes a round in Redis that the ledger knows to be closed: a Redis that lost its newest writes lost that one too.
// The rest of its money would be held for ever, and could be won.
func (c *clerk) closeAgain(ctx context.Context) error {
	c.log.Error("redis has lost the close of a round; it is closed again", "round", c.round.ID, "room", c.round.Room)
	c.counts.reclosed.Add(1)
	c.closing, c.retired = true, false
	return c.outbox.CloseAgain(ctx, c.round)
}

// repair restores what Redis lost of the round's keys; if what is left does not say enough, the round is frozen.
func (c *clerk) repair(ctx context.Context, account game.Account) error {
	if c.round.Phase == game.Settled || (c.round.Phase == game.Closed && c.round.Reason == game.Interrupted) {
		return errWithoutKeys // nothing is won there any more, and the books are complete or were given up
	}
	restored, err := c.outbox.Repair(ctx, c.round)
	switch {
	case errors.Is(err, game.ErrGone):
		return errWithoutKeys
	case errors.Is(err, game.ErrTorn) && account.Refund != nil:
		return errWithoutKeys // the ledger knows what the round must come to
	case errors.Is(err, game.ErrTorn) && c.round.Frozen:
		return nil // the host knows
	case errors.Is(err, game.ErrTorn):
		return c.freeze(ctx, c.round, game.FrozenKeysLost, err.Error())
	case err != nil:
		return err
	}
	c.unsure = true
	c.counts.repaired.Add(int64(len(restored)))
	c.log.Error("redis lost keys of a round; they are made anew from the others", "round", c.round.ID, "room", c.round.Room, "keys", restored)
	return nil
}

// watchSettled sees to it for a while that a settled round stays closed in Redis, and lets its keys expire. done: long enough.
func (c *clerk) watchSettled(ctx context.Context, mark game.Watermark) (done bool, err error) {
	if c.settledAt.IsZero() {
		c.settledAt = time.Now()
	}
	if mark.Phase != game.Closed {
		return false, c.closeAgain(ctx)
	}
	if !c.retired {
		if err := c.outbox.Retire(ctx, c.round, c.options.Retention); err != nil {
			return false, err
		}
		c.retired = true
	}
	if time.Since(c.settledAt) < c.options.WatchSettled {
		return false, nil
	}
	return true, c.books.NoteKeysExpiring(ctx, c.round.ID)
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
	case step == game.RefundMismatch:
		return false, c.freeze(ctx, c.round, game.FrozenBooksDiffer, "the refund can never agree with the claims in the ledger")
	case step == game.RefundWaiting: // though nothing is on its way
		return false, c.freeze(ctx, c.round, game.FrozenBooksDiffer, "the ledger holds fewer claims than were granted")
	case step != game.RefundApplied || mark.Phase != game.Closed:
		return false, nil
	}
	if err := c.settled(ctx, account); err != nil || c.round.Phase != game.Settled {
		return false, err
	}
	return c.watchSettled(ctx, mark)
}

// settled takes a round whose refund is applied to its last phase. It closes it in SQL where nobody has come to that yet.
func (c *clerk) settled(ctx context.Context, account game.Account) (err error) {
	if c.round.Phase.Active() {
		if c.round, err = c.books.NoteClosed(ctx, c.round.ID, account.Refund.Reason, account.Refund.Claimed); err != nil {
			return err
		}
	}
	if c.round, err = c.books.NoteSettled(ctx, c.round.ID); err != nil || c.round.Phase != game.Settled {
		return err
	}
	c.log.Info("round is settled", "round", c.round.ID, "room", c.round.Room, "claims", c.round.Claimed.Packets,
		"claimed_cents", int64(c.round.Claimed.Cents), "refund_cents", int64(c.round.Settings.Total-c.round.Claimed.Cents))
	return nil
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
		return 0, true, c.books.NoteKeysExpiring(ctx, c.round.ID)
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
	switch {
	case err == nil && step == game.RefundApplied:
		if err = c.settled(ctx, account); err == nil && c.round.Phase == game.Settled {
			return 0, true, errors.Join(c.outbox.Retire(ctx, c.round, c.options.Retention), c.books.NoteKeysExpiring(ctx, c.round.ID))
		}
	case err == nil:
		err = c.freeze(ctx, c.round, game.FrozenKeysLost, "its keys were lost before all of its claims were booked")
	}
	return quietPause, false, err
}
