package settle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redrain/internal/game"
)

// errNoKeys says that the keys of a round are gone for good, so that it must be settled from the ledger alone.
var errNoKeys = errors.New("the round has no keys to go on with")

// advance compares the round in Redis with the ledger and, where they agree, takes the next steps: apply the refund, note the round
// as settled, set the final time to live of its keys. done: nothing is left to do. errNoKeys: Redis has nothing to compare with.
func (w *worker) advance(ctx context.Context) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*callTimeout)
	defer cancel()
	account, err := w.books.Account(ctx, w.round.ID)
	if err != nil {
		return false, err
	}
	granted := max(account.Highest, w.audit.highestGranted) // read before the watermark, so Redis must count at least as many
	mark, err := w.outbox.Watermark(ctx, w.round.ID)
	w.round = account.Round
	switch {
	case errors.Is(err, game.ErrGone):
		return false, errNoKeys
	case errors.Is(err, game.ErrTorn):
		return false, w.repair(ctx, account)
	case err != nil:
		return false, err
	}
	w.warnBeforeExpiry(mark)
	w.mayHavePending = mark.Pending > 0 // perhaps delivered to this process: a Redis that restarted may have lost acknowledgements
	if account.Phase == game.Settled {
		return w.watchSettled(ctx, mark)
	}
	if again, err := w.syncFreeze(ctx, mark); err != nil || again {
		return false, err
	}
	return w.compareAndFinish(ctx, account, mark, granted)
}

// compareAndFinish is advance once Redis and the ledger agree on whether the round is frozen. granted is the highest claim number known
// before the watermark was read.
func (w *worker) compareAndFinish(ctx context.Context, account game.Account, mark game.Watermark, granted int) (done bool, err error) {
	if why := describeLoss(granted, account.LossAcceptedUpTo, mark); why != "" && !account.Frozen {
		return false, w.freezeForLoss(ctx, w.round.ID, granted, why)
	}
	if account.Phase == game.Closed && mark.Phase != game.Closed {
		return false, w.repeatClose(ctx)
	}
	if account.Frozen {
		return false, w.recordLossAndResetAudit(ctx, granted, mark)
	}
	w.audit.highestGranted = mark.Claimed.Packets
	why, err := w.compareWithRedis(ctx, account, mark)
	if err != nil {
		return false, err
	}
	if why != "" {
		return false, w.freezeAndAlert(ctx, w.round, game.FrozenBooksDiffer, why)
	}
	if account.Refund == nil || !mark.Drained() {
		return false, nil
	}
	return w.finish(ctx, account, mark)
}

// syncFreeze sets the frozen flag in Redis to what the ledger says. They can differ because a process died after it had frozen or
// released the round in the ledger, or because Redis lost the write. again: the round must be read again before it is advanced.
func (w *worker) syncFreeze(ctx context.Context, mark game.Watermark) (again bool, err error) {
	switch {
	case w.round.FreezeVersion < mark.FreezeVersion: // it was frozen or released after the ledger was read
		return true, w.checkFreezeKnown(ctx, mark.FreezeVersion)
	case w.round.FreezeVersion == mark.FreezeVersion && w.round.Frozen == mark.Frozen:
		return false, nil
	}
	return !w.round.Frozen, w.outbox.SetFrozen(ctx, w.round)
}

// repeatClose closes a round in Redis that is closed in the ledger and, because Redis lost its newest writes, open in Redis. Left
// so, players could still win packets, and the rest of the money would stay in escrow for ever.
func (w *worker) repeatClose(ctx context.Context) error {
	w.log.Error("redis has lost the close of a round; it is closed again", "round", w.round.ID, "room", w.round.Room)
	w.counts.reclosed.Add(1)
	w.refundSeen, w.expirySet = true, false
	return w.outbox.RepeatClose(ctx, w.round)
}

// repair restores the keys of the round that Redis lost, from those that it still has. If that is not possible, the round is frozen.
func (w *worker) repair(ctx context.Context, account game.Account) error {
	if w.round.Phase == game.Settled || (w.round.Phase == game.Closed && w.round.Reason == game.Interrupted) {
		return errNoKeys // nothing can be won any more, and its books are complete or the host gave them up
	}
	restored, err := w.outbox.Repair(ctx, w.round)
	switch {
	case errors.Is(err, game.ErrGone):
		return errNoKeys
	case errors.Is(err, game.ErrTorn) && account.Refund != nil:
		return errNoKeys // with the refund in the ledger it can be settled from there
	case errors.Is(err, game.ErrTorn) && w.round.Frozen:
		return nil // the host was told, and decides
	case errors.Is(err, game.ErrTorn):
		return w.freezeAndAlert(ctx, w.round, game.FrozenKeysLost, err.Error())
	case err != nil:
		return err
	}
	w.mayHavePending = true
	w.counts.repaired.Add(int64(len(restored)))
	w.log.Error("redis lost keys of a round; they were restored from the others", "round", w.round.ID, "room", w.round.Room, "keys", restored)
	return nil
}

// watchSettled sets the final time to live of a settled round's keys, and for a while repeats the close if Redis loses it. done: that
// while is over.
func (w *worker) watchSettled(ctx context.Context, mark game.Watermark) (done bool, err error) {
	if w.settledSince.IsZero() {
		w.settledSince = time.Now()
	}
	if mark.Phase != game.Closed {
		return false, w.repeatClose(ctx)
	}
	if !w.expirySet {
		if err := w.outbox.ExpireKeys(ctx, w.round, w.options.Retention); err != nil {
			return false, err
		}
		w.expirySet = true
	}
	if time.Since(w.settledSince) < w.options.WatchSettledFor {
		return false, nil
	}
	return true, w.books.NoteKeysExpiring(ctx, w.round.ID)
}

// checkFreezeKnown returns an error if Redis has a later freeze or release than the ledger: then the database was restored from an
// older state.
func (w *worker) checkFreezeKnown(ctx context.Context, version int64) error {
	account, err := w.books.Account(ctx, w.round.ID)
	if err == nil && account.FreezeVersion < version {
		err = fmt.Errorf("redis has freeze version %d of the round, the ledger only %d", version, account.FreezeVersion)
	}
	return err
}

// finish applies the refund of a round whose claims are all booked, and settles it.
func (w *worker) finish(ctx context.Context, account game.Account, mark game.Watermark) (done bool, err error) {
	step, err := w.books.ApplyRefund(ctx, w.round.ID)
	switch {
	case err != nil:
		return false, err
	case step == game.RefundMismatch:
		return false, w.freezeAndAlert(ctx, w.round, game.FrozenBooksDiffer, "the refund can never agree with the claims in the ledger")
	case step == game.RefundWaiting: // for claims, although no entry is left to book
		return false, w.freezeAndAlert(ctx, w.round, game.FrozenBooksDiffer, "the ledger holds fewer claims than were granted")
	case step != game.RefundApplied || mark.Phase != game.Closed:
		return false, nil
	}
	if err := w.markSettled(ctx, account); err != nil || w.round.Phase != game.Settled {
		return false, err
	}
	return w.watchSettled(ctx, mark)
}

// markSettled notes a round whose refund is applied as settled, and before as closed if no other process has done so.
func (w *worker) markSettled(ctx context.Context, account game.Account) (err error) {
	if w.round.Phase.Active() {
		if w.round, err = w.books.NoteClosed(ctx, w.round.ID, account.Refund.Reason, account.Refund.Claimed); err != nil {
			return err
		}
	}
	if w.round, err = w.books.NoteSettled(ctx, w.round.ID); err != nil || w.round.Phase != game.Settled {
		return err
	}
	w.log.Info("round is settled", "round", w.round.ID, "room", w.round.Room, "claims", w.round.Claimed.Packets,
		"claimed_cents", int64(w.round.Claimed.Cents), "refund_cents", int64(w.round.Settings.Total-w.round.Claimed.Cents))
	return nil
}

// settleWithoutKeys handles a round without keys in Redis: it is not open yet, or they are lost. A closed round whose claims are all in
// the ledger is settled from there; one that may lack some is frozen.
func (w *worker) settleWithoutKeys(ctx context.Context) (wait time.Duration, done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	account, err := w.books.Account(ctx, w.round.ID)
	if err != nil {
		return 0, false, err
	}
	w.round = account.Round
	switch {
	case account.Phase == game.Settled:
		return 0, true, w.books.NoteKeysExpiring(ctx, w.round.ID)
	case account.Phase != game.Closed || account.Frozen: // package rounds, or the host, has to decide first
		return frozenPause, false, nil
	}
	if w.options.Embedded || account.Reason == game.Interrupted {
		if err := w.books.Interrupt(ctx, w.round.ID); err != nil {
			return 0, false, err
		}
		if account, err = w.books.Account(ctx, w.round.ID); err != nil {
			return 0, false, err
		}
	}
	step, err := w.books.ApplyRefund(ctx, w.round.ID)
	switch {
	case err == nil && step == game.RefundApplied:
		if err = w.markSettled(ctx, account); err == nil && w.round.Phase == game.Settled {
			return 0, true, errors.Join(w.outbox.ExpireKeys(ctx, w.round, w.options.Retention), w.books.NoteKeysExpiring(ctx, w.round.ID))
		}
	case err == nil:
		err = w.freezeAndAlert(ctx, w.round, game.FrozenKeysLost, "its keys were lost before all of its claims were booked")
	}
	return frozenPause, false, err
}
