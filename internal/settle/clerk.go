package settle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"redrain/internal/game"
	"redrain/internal/patience"
)

const (
	// leastEntries and mostEntries bound what is taken at once; in between it is as many as hold inHand claims, by the last
	// ones. So much is held in memory, whatever waits in Redis.
	leastEntries, mostEntries, inHand = 64, 2000, 20_000
	// someEntries are taken, or acknowledged, at once while taps come, which wait in Redis meanwhile; breath is the time between.
	someEntries, breath = 16, 2 * time.Millisecond
	// mostClaims and leastClaims bound the claims of one transaction. It begins large, and shrinks while transactions fail: on
	// a database that has become slow a large one might never end in time.
	mostClaims, leastClaims = 5000, 256
	// openPause is how long an empty outbox is left alone, quietPause that of a frozen round. While it rains claims are left to
	// gather: a transaction costs as much as a hundred of them, and its work is taken from the taps of the same moment.
	openPause  = 50 * time.Millisecond
	rainPause  = 250 * time.Millisecond
	quietPause = time.Second
	// stepFor bounds one call to Redis or the database.
	stepFor = 15 * time.Second
	// auditEvery is how often a round is compared with its books while nothing else calls for it.
	auditEvery = time.Second
	// inheritEvery is how often is looked for what dead settlers left.
	inheritEvery = 5 * time.Second
)

// clerk settles one round. It is used by one goroutine.
type clerk struct {
	*Settler
	round game.Round
	// unsure: something failed, so entries may be given to this process and not acknowledged. They come first again.
	unsure    bool
	backlog   bool // the last time there was more to take than was taken
	gently    bool // it rains, and there is no backlog: there is time to leave the machine to the taps
	closing   bool // a refund came: there may be more to do than to wait
	claims    int  // of one transaction at most, or those of one entry
	entries   int  // to take at once
	inherited time.Time
	audited   time.Time
	audit     audit
	// settledAt is when this clerk first saw the round settled; retired: its keys were given their last time to live.
	settledAt time.Time
	retired   bool
}

// attend settles a round until nothing is left to do for it, or ctx is done.
func (s *Settler) attend(ctx context.Context, round game.Round) {
	c := &clerk{Settler: s, round: round, unsure: true, claims: mostClaims, entries: leastEntries}
	failures := patience.Backoff{Worst: worstDelay}
	defer s.failing.note(round.ID, false)
	for {
		wait, done, err := c.look(ctx)
		s.failing.note(round.ID, err != nil)
		switch {
		case ctx.Err() != nil || (err == nil && done):
			return
		case err != nil:
			c.unsure = true
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

// look does what is there to do; wait is how long nothing else is, as far as it can tell.
func (c *clerk) look(ctx context.Context) (wait time.Duration, done bool, err error) {
	defer func() {
		if broken := recover(); broken != nil { // a round that cannot be worked out must not stop the others
			err = fmt.Errorf("panic: %v\n%s", broken, debug.Stack())
		}
	}()
	err = c.empty(ctx)
	gone := errors.Is(err, game.ErrGone)
	if err != nil && !gone {
		return 0, false, err
	}
	if gone || c.closing || c.round.Phase.Over() || time.Since(c.audited) >= auditEvery {
		c.audited, c.closing = time.Now(), false
		done, err = c.advance(ctx)
		if errors.Is(err, errWithoutKeys) {
			return c.withoutKeys(ctx)
		}
		if err != nil || done {
			return 0, done, err
		}
	}
	return c.rest(), false, nil
}

func (c *clerk) rest() time.Duration {
	switch {
	case c.round.Frozen, c.retired:
		return quietPause
	case c.round.Phase.Over():
		return openPause
	default:
		return rainPause
	}
}

// empty books what is in the outbox until nothing more is, or it is time to look at something else.
func (c *clerk) empty(ctx context.Context) error {
	c.gently = false // until it is known how much there is
	if c.unsure {
		if err := c.again(ctx); err != nil {
			return err
		}
		c.unsure = false
	}
	if time.Since(c.inherited) >= inheritEvery {
		c.inherited = time.Now()
		if err := c.inherit(ctx); err != nil {
			return err
		}
	}
	for since := time.Now(); time.Since(since) < auditEvery; {
		entries, all, err := c.take(ctx)
		if err == nil && len(entries) > 0 {
			err = c.settle(ctx, entries)
		}
		if err != nil || all {
			return err // what came meanwhile gathers for the next time
		}
	}
	return nil
}

// take takes what nobody was given yet, up to what may be in hand; all: there was no more. What was taken before an error comes
// again, as c is unsure then.
func (c *clerk) take(ctx context.Context) (entries []game.Entry, all bool, err error) {
	c.gently = !c.backlog && !c.round.Phase.Over() && !c.hurrying()
	for len(entries) < c.entries && !all {
		count := c.entries - len(entries)
		if c.gently {
			count = min(count, someEntries)
		}
		some, err := timed(ctx, func(ctx context.Context) ([]game.Entry, error) { return c.outbox.Take(ctx, c.round.ID, count) })
		if err != nil {
			return nil, false, err
		}
		entries, all = append(entries, some...), len(some) < count
		if c.gently && !all {
			patience.Pause(ctx, breath, nil)
		}
	}
	c.backlog = !all
	c.gently = c.gently && all
	return entries, all, nil
}

// again books what this process was given before.
func (c *clerk) again(ctx context.Context) error {
	for after := "0"; ; {
		entries, err := timed(ctx, func(ctx context.Context) ([]game.Entry, error) {
			return c.outbox.Retake(ctx, c.round.ID, after, c.entries)
		})
		if err != nil || len(entries) == 0 {
			return err
		}
		after = entries[len(entries)-1].ID
		if err := c.settle(ctx, entries); err != nil {
			return err
		}
	}
}

// inherit books what settlers that are dead, or stuck, were given, and forgets those that left nothing.
func (c *clerk) inherit(ctx context.Context) error {
	for from := ""; from != "0-0"; {
		entries, err := timed(ctx, func(ctx context.Context) (entries []game.Entry, err error) {
			entries, from, err = c.outbox.TakeOver(ctx, c.round.ID, cmp.Or(from, "0"), c.options.TakeOverAfter, c.entries)
			return entries, err
		})
		if err != nil {
			return err
		}
		if err := c.settle(ctx, entries); err != nil {
			return err
		}
	}
	_, err := timed(ctx, func(ctx context.Context) (int, error) {
		return c.outbox.Dismiss(ctx, c.round.ID, c.options.DismissAfter)
	})
	return err
}

// settle books entries in transactions of a bounded size, and acknowledges those of each once it has committed.
func (c *clerk) settle(ctx context.Context, entries []game.Entry) error {
	c.learnSize(entries)
	for len(entries) > 0 {
		count := fitting(entries, c.claims)
		if err := c.book(ctx, entries[:count]); err != nil {
			c.claims = max(leastClaims, c.claims/2)
			return err
		}
		c.claims = min(mostClaims, c.claims*2)
		if err := c.acknowledge(ctx, entries[:count]); err != nil {
			return err
		}
		entries = entries[count:]
	}
	return nil
}

func (c *clerk) acknowledge(ctx context.Context, entries []game.Entry) error {
	at := len(entries)
	if c.gently {
		at = someEntries
	}
	for some := range slices.Chunk(entries, at) {
		ids := make([]string, len(some))
		for i := range ids {
			ids[i] = some[i].ID
		}
		_, err := timed(ctx, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, c.outbox.Acknowledge(ctx, c.round.ID, ids...)
		})
		if err != nil {
			return err
		}
		if c.gently {
			patience.Pause(ctx, breath, nil)
		}
	}
	return nil
}

// learnSize works out how many entries to take next.
func (c *clerk) learnSize(entries []game.Entry) {
	claims := 0
	for i := range entries {
		claims += len(entries[i].Claims)
	}
	if len(entries) > 0 {
		c.entries = min(max(leastEntries, inHand*len(entries)/max(claims, 1)), mostEntries)
	}
}

// fitting is how many of the entries go into one transaction of about so many claims.
func fitting(entries []game.Entry, most int) int {
	claims := 0
	for i := range entries {
		if claims += len(entries[i].Claims); claims >= most {
			return i + 1
		}
	}
	return len(entries)
}

// book books entries. If the database will never take them, it books each alone, whatever is among them, and one that it still
// refuses becomes a dead letter. A dead letter that the database refuses is an error: it cannot be kept.
func (c *clerk) book(ctx context.Context, entries []game.Entry) error {
	book := c.books.Book
	if c.gently {
		book = c.books.BookPaced
	}
	booked, err := timed(ctx, func(ctx context.Context) (game.Booked, error) { return book(ctx, c.round.ID, entries) })
	switch {
	case err == nil:
		return c.took(ctx, booked, entries)
	case !errors.Is(err, game.ErrRefused):
		return err
	case len(entries) == 1 && entries[0].Fault != "":
		return err
	case len(entries) > 1:
		for i := range entries {
			if err := c.book(ctx, entries[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	poison := game.Entry{ID: entries[0].ID, At: entries[0].At, Fault: "the database refuses it: " + err.Error()}
	poison.Raw, err = c.outbox.Raw(ctx, c.round.ID, poison.ID)
	if errors.Is(err, game.ErrNotFound) { // a Redis that was set back since it gave the entry
		poison.Raw, err = fmt.Sprintf("%+v", entries[0]), nil
	}
	if err != nil {
		return fmt.Errorf("keep an entry that the database refuses: %w", err)
	}
	return c.book(ctx, []game.Entry{poison})
}

// took counts what was booked, and tells the world of an alarm. The ledger has frozen the round then.
func (c *clerk) took(ctx context.Context, booked game.Booked, entries []game.Entry) error {
	c.counts.claims.Add(int64(booked.Claims))
	c.counts.cents.Add(int64(booked.Cents))
	c.counts.redelivered.Add(int64(booked.Redelivered))
	c.counts.quarantined.Add(int64(booked.Quarantined))
	c.counts.deadLetters.Add(int64(booked.DeadLetters))
	if booked.Quarantined > 0 || booked.DeadLetters > 0 {
		c.log.Error("some of what was granted could not be booked", "round", c.round.ID, "room", c.round.Room,
			"quarantined_claims", booked.Quarantined, "dead_letters", booked.DeadLetters, "last_entry", entries[len(entries)-1].ID)
	}
	for i := range entries {
		c.closing = c.closing || entries[i].Refund != nil
	}
	c.counts.lag.Store(max(0, int64(c.outbox.Now()-entries[len(entries)-1].At)))
	if booked.Alarm == "" {
		return nil
	}
	return c.freeze(ctx, c.round, game.FrozenBooksDiffer, booked.Alarm)
}

// timed gives one call its deadline.
func timed[T any](ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, stepFor)
	defer cancel()
	return call(ctx)
}
