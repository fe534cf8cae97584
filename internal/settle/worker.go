package settle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"redrain/internal/backoff"
	"redrain/internal/game"
)

const (
	// minBatchEntries and maxBatchEntries bound how many entries are read before they are booked. In between it is as many as
	// hold targetBatchClaims claims, judging by the previous batch. That bounds memory, however many entries wait in Redis.
	minBatchEntries, maxBatchEntries, targetBatchClaims = 64, 2000, 20_000
	// While a worker is throttled it reads and acknowledges throttledEntries at a time, with throttlePause in between, so that
	// players' taps do not wait in Redis behind it.
	throttledEntries, throttlePause = 16, 2 * time.Millisecond
	// maxTxClaims and minTxClaims bound the claims of one SQL transaction. The size starts at the maximum, and is halved whenever a
	// transaction fails: on a slow database a large one may never end before its deadline.
	maxTxClaims, minTxClaims = 5000, 256
	// How long a worker leaves Redis alone after it has emptied the outbox: of a closed round, of a round in which players still
	// tap, and of a frozen one. The second is longer so that claims gather: a transaction costs as much as booking a hundred
	// claims, and it takes CPU time from the taps of that moment.
	emptyPause  = 50 * time.Millisecond
	rainPause   = 250 * time.Millisecond
	frozenPause = time.Second
	// callTimeout bounds one call to Redis or to the database.
	callTimeout = 15 * time.Second
	// auditInterval is how often a round is compared with its books if nothing else calls for it.
	auditInterval = time.Second
	// claimStaleInterval is how often a worker looks for entries that other processes read and did not acknowledge.
	claimStaleInterval = 5 * time.Second
)

// worker settles one round. It is used by one goroutine.
type worker struct {
	*Settler
	round game.Round
	// mayHavePending: entries may have been delivered to this process and not acknowledged, because something failed. They are
	// replayed before new ones are read.
	mayHavePending bool
	backlog        bool // the last read left entries in the outbox
	throttled      bool // players are tapping and there is no backlog, so taps come first
	refundSeen     bool // a refund was booked, so the round can probably be advanced at once
	txClaims       int  // claims per transaction at most; a single entry may have more
	batchSize      int  // entries to read at once
	staleClaimedAt time.Time
	auditedAt      time.Time
	audit          audit
	settledSince   time.Time // when this worker first saw the round settled
	expirySet      bool      // the keys of the settled round were given their final time to live
}

// runWorker settles a round until nothing is left to do for it, or ctx is done.
func (s *Settler) runWorker(ctx context.Context, round game.Round) {
	w := &worker{Settler: s, round: round, mayHavePending: true, txClaims: maxTxClaims, batchSize: minBatchEntries}
	failures := backoff.Exponential{Max: maxRetryDelay}
	defer s.failing.record(round.ID, false)
	for {
		wait, done, err := w.step(ctx)
		s.failing.record(round.ID, err != nil)
		switch {
		case ctx.Err() != nil || (err == nil && done):
			return
		case err != nil:
			w.mayHavePending = true
			wait = failures.Next()
			s.log.Warn("cannot settle a round", "round", round.ID, "room", round.Room, "error", err, "again_in", wait)
		default:
			failures.Reset()
		}
		if !s.pause(ctx, wait) {
			return
		}
	}
}

// step does everything that can be done now. wait is how long to pause before the next step; done means that the round needs no
// worker any more.
func (w *worker) step(ctx context.Context) (wait time.Duration, done bool, err error) {
	defer func() {
		if cause := recover(); cause != nil { // a bug met in one round must not stop the other rounds
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	err = w.drain(ctx)
	keysGone := errors.Is(err, game.ErrGone)
	if err != nil && !keysGone {
		return 0, false, err
	}
	if keysGone || w.refundSeen || w.round.Phase.Over() || time.Since(w.auditedAt) >= auditInterval {
		w.auditedAt, w.refundSeen = time.Now(), false
		done, err = w.advance(ctx)
		if errors.Is(err, errNoKeys) {
			return w.settleWithoutKeys(ctx)
		}
		if err != nil || done {
			return 0, done, err
		}
	}
	return w.idlePause(), false, nil
}

func (w *worker) idlePause() time.Duration {
	switch {
	case w.round.Frozen, w.expirySet:
		return frozenPause
	case w.round.Phase.Over():
		return emptyPause
	default:
		return rainPause
	}
}

// drain books entries until the outbox is empty, or until it is time for the next audit.
func (w *worker) drain(ctx context.Context) error {
	w.throttled = false // readNew decides it, once it is known how much there is
	if w.mayHavePending {
		if err := w.replayPending(ctx); err != nil {
			return err
		}
		w.mayHavePending = false
	}
	if time.Since(w.staleClaimedAt) >= claimStaleInterval {
		w.staleClaimedAt = time.Now()
		if err := w.claimStale(ctx); err != nil {
			return err
		}
	}
	for since := time.Now(); time.Since(since) < auditInterval; {
		entries, emptied, err := w.readNew(ctx)
		if err == nil && len(entries) > 0 {
			err = w.bookAndAcknowledge(ctx, entries)
		}
		if err != nil || emptied {
			return err // entries that arrived meanwhile gather until the next step
		}
	}
	return nil
}

// readNew reads up to batchSize entries that were delivered to nobody yet. emptied means that there were no more. After an error
// the entries read so far stay pending, and are replayed by the next step.
func (w *worker) readNew(ctx context.Context) (entries []game.Entry, emptied bool, err error) {
	w.throttled = !w.backlog && !w.round.Phase.Over() && !w.isExpedited()
	for len(entries) < w.batchSize && !emptied {
		count := w.batchSize - len(entries)
		if w.throttled {
			count = min(count, throttledEntries)
		}
		some, err := withTimeout(ctx, func(ctx context.Context) ([]game.Entry, error) { return w.outbox.ReadNew(ctx, w.round.ID, count) })
		if err != nil {
			return nil, false, err
		}
		entries, emptied = append(entries, some...), len(some) < count
		if w.throttled && !emptied {
			backoff.Sleep(ctx, throttlePause, nil)
		}
	}
	w.backlog = !emptied
	w.throttled = w.throttled && emptied
	return entries, emptied, nil
}

// replayPending books the entries that were delivered to this process before and not acknowledged.
func (w *worker) replayPending(ctx context.Context) error {
	for after := "0"; ; {
		entries, err := withTimeout(ctx, func(ctx context.Context) ([]game.Entry, error) {
			return w.outbox.ReadPending(ctx, w.round.ID, after, w.batchSize)
		})
		if err != nil || len(entries) == 0 {
			return err
		}
		after = entries[len(entries)-1].ID
		if err := w.bookAndAcknowledge(ctx, entries); err != nil {
			return err
		}
	}
}

// claimStale books entries that were delivered to other settlers, which are dead or stuck by now. Then it removes consumers that
// have been idle for long and have nothing pending from the group.
func (w *worker) claimStale(ctx context.Context) error {
	for from := ""; from != "0-0"; {
		entries, err := withTimeout(ctx, func(ctx context.Context) (entries []game.Entry, err error) {
			entries, from, err = w.outbox.ClaimStale(ctx, w.round.ID, cmp.Or(from, "0"), w.options.ClaimStaleAfter, w.batchSize)
			return entries, err
		})
		if err != nil {
			return err
		}
		if err := w.bookAndAcknowledge(ctx, entries); err != nil {
			return err
		}
	}
	_, err := withTimeout(ctx, func(ctx context.Context) (int, error) {
		return w.outbox.RemoveIdleConsumers(ctx, w.round.ID, w.options.RemoveConsumersAfter)
	})
	return err
}

// bookAndAcknowledge books entries in transactions of a bounded size, and acknowledges those of each once it has committed.
func (w *worker) bookAndAcknowledge(ctx context.Context, entries []game.Entry) error {
	w.adjustBatchSize(entries)
	for len(entries) > 0 {
		count := countWithin(entries, w.txClaims)
		if err := w.book(ctx, entries[:count]); err != nil {
			w.txClaims = max(minTxClaims, w.txClaims/2)
			return err
		}
		w.txClaims = min(maxTxClaims, w.txClaims*2)
		if err := w.acknowledge(ctx, entries[:count]); err != nil {
			return err
		}
		entries = entries[count:]
	}
	return nil
}

// acknowledge acknowledges booked entries; in small portions while throttled.
func (w *worker) acknowledge(ctx context.Context, entries []game.Entry) error {
	portion := len(entries)
	if w.throttled {
		portion = throttledEntries
	}
	for some := range slices.Chunk(entries, portion) {
		ids := make([]string, len(some))
		for i := range ids {
			ids[i] = some[i].ID
		}
		_, err := withTimeout(ctx, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, w.outbox.Acknowledge(ctx, w.round.ID, ids...)
		})
		if err != nil {
			return err
		}
		if w.throttled {
			backoff.Sleep(ctx, throttlePause, nil)
		}
	}
	return nil
}

// adjustBatchSize sets how many entries to read next, from how many claims these held.
func (w *worker) adjustBatchSize(entries []game.Entry) {
	claims := 0
	for i := range entries {
		claims += len(entries[i].Claims)
	}
	if len(entries) > 0 {
		w.batchSize = min(max(minBatchEntries, targetBatchClaims*len(entries)/max(claims, 1)), maxBatchEntries)
	}
}

// countWithin is how many of the entries, at least one, go into a transaction of about maxClaims claims.
func countWithin(entries []game.Entry, maxClaims int) int {
	claims := 0
	for i := range entries {
		if claims += len(entries[i].Claims); claims >= maxClaims {
			return i + 1
		}
	}
	return len(entries)
}

// book books entries in one transaction. If the database refuses them for good, each is booked alone, and an entry that is refused
// even then is stored as a dead letter. A dead letter that the database refuses is an error, as there is nowhere to store it.
func (w *worker) book(ctx context.Context, entries []game.Entry) error {
	book := w.books.Book
	if w.throttled {
		book = w.books.BookPaced
	}
	booked, err := withTimeout(ctx, func(ctx context.Context) (game.Booked, error) { return book(ctx, w.round.ID, entries) })
	switch {
	case err == nil:
		return w.recordBooked(ctx, booked, entries)
	case !errors.Is(err, game.ErrRefused):
		return err
	case len(entries) == 1 && entries[0].Fault != "":
		return err
	case len(entries) > 1:
		for i := range entries {
			if err := w.book(ctx, entries[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	deadLetter := game.Entry{ID: entries[0].ID, At: entries[0].At, Fault: "the database refuses it: " + err.Error()}
	deadLetter.Raw, err = w.outbox.ReadRaw(ctx, w.round.ID, deadLetter.ID)
	if errors.Is(err, game.ErrNotFound) { // Redis has lost the entry since it delivered it
		deadLetter.Raw, err = fmt.Sprintf("%+v", entries[0]), nil
	}
	if err != nil {
		return fmt.Errorf("keep an entry that the database refuses: %w", err)
	}
	return w.book(ctx, []game.Entry{deadLetter})
}

// recordBooked updates the counters. If booking raised an alarm, the ledger has frozen the round, and operators and hosts are told.
func (w *worker) recordBooked(ctx context.Context, booked game.Booked, entries []game.Entry) error {
	w.counts.claims.Add(int64(booked.Claims))
	w.counts.cents.Add(int64(booked.Cents))
	w.counts.redelivered.Add(int64(booked.Redelivered))
	w.counts.quarantined.Add(int64(booked.Quarantined))
	w.counts.deadLetters.Add(int64(booked.DeadLetters))
	if booked.Quarantined > 0 || booked.DeadLetters > 0 {
		w.log.Error("some of what was granted could not be booked", "round", w.round.ID, "room", w.round.Room,
			"quarantined_claims", booked.Quarantined, "dead_letters", booked.DeadLetters, "last_entry", entries[len(entries)-1].ID)
	}
	for i := range entries {
		w.refundSeen = w.refundSeen || entries[i].Refund != nil
	}
	w.counts.lag.Store(max(0, int64(w.outbox.Now()-entries[len(entries)-1].At)))
	switch {
	case booked.Alarm == "":
		return nil
	case !booked.Frozen.Frozen: // the entry stays pending, so that operators see it
		return fmt.Errorf("%s, and the round is %s: %w", booked.Alarm, booked.Frozen.Phase, game.ErrWrongPhase)
	}
	return w.alert(ctx, booked.Frozen, booked.Alarm)
}

// withTimeout makes one call with a deadline of callTimeout.
func withTimeout[T any](ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return call(ctx)
}
