package settle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"redrain/internal/game"
	"redrain/internal/patience"
)

// Witness holds Redis to what this process heard of it, by pub/sub and by answers. A Redis that comes back without its newest
// writes has forgotten claims that players were told of, and may have granted their numbers to others since: then the round
// freezes, whoever granted or settles it.
//
// Redis is asked only after something was heard, so what is in flight cannot look like a loss. Numbers have no gaps, and Redis
// has one history: if it still has the last claim that was heard of, it has all before. That one is looked up when messages
// were missed or came out of their order, and the count of claims always.
//
// Safe for concurrent use.
type Witness struct {
	settler *Settler
	nudge   chan struct{}

	mu     sync.Mutex
	rounds map[string]*testimony
}

// testimony is what was heard of a round.
type testimony struct {
	room    string
	at      time.Time // when something was heard last
	highest int       // number of a claim
	last    game.Claim
	doubted []game.Claim // to be looked up, see Witness
	missing time.Time    // since when Redis has lost the round's keys, and the ledger not all that was heard of; zero: it has
}

const (
	// witnessEvery is how often Redis is asked.
	witnessEvery = time.Second
	// mostDoubted bounds what is looked up at once for a round.
	mostDoubted = 64
	// missingAfter is how long wins of a round without keys may be on their way to the ledger.
	missingAfter = 3 * time.Second
	// forgetGoneAfter is how long what was heard of a round without keys is kept: they may come back, with less in them.
	forgetGoneAfter = time.Hour
)

// NewWitness returns a witness that has heard nothing yet; Run makes it look.
func NewWitness(settler *Settler) *Witness {
	return &Witness{settler: settler, nudge: make(chan struct{}, 1), rounds: make(map[string]*testimony)}
}

// Hear takes one message from Redis. It never blocks. Messages must come in the order in which Redis sent them.
func (w *Witness) Hear(heard game.Heard) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case heard.Claims != nil && len(heard.Claims.Claims) > 0:
		w.heardClaims(heard.Room, heard.Claims)
	case heard.Lost:
		for _, t := range w.rounds {
			if t.room == heard.Room {
				w.doubt(t)
			}
		}
	}
}

func (w *Witness) heardClaims(room string, claims *game.Claimed) {
	t := w.of(room, claims.Round)
	first, last := claims.Claims[0], claims.Claims[len(claims.Claims)-1]
	if first.Number != t.last.Number+1 {
		w.doubt(t)
	}
	t.last = last
	t.highest = max(t.highest, last.Number)
}

// Granted takes note of a claim number that Redis answered this process with.
func (w *Witness) Granted(room, round string, number int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.of(room, round)
	t.highest = max(t.highest, number)
}

func (w *Witness) of(room, round string) *testimony {
	t := w.rounds[round]
	if t == nil {
		t = &testimony{room: room}
		w.rounds[round] = t
	}
	t.at = time.Now()
	return t
}

// doubt has the last claim that was heard of looked up.
func (w *Witness) doubt(t *testimony) {
	if t.last.Number == 0 {
		return
	}
	if len(t.doubted) == mostDoubted {
		t.doubted = t.doubted[:mostDoubted-1]
	}
	t.doubted = append(t.doubted, t.last)
	select {
	case w.nudge <- struct{}{}:
	default:
	}
}

// Ear is a subscription, by which Hear is called for rooms.
type Ear interface {
	Add(ctx context.Context, room string) error
	Remove(ctx context.Context, room string) error
}

// Run looks until ctx is done. With an ear of its own it listens to the rooms of all rounds that are not settled; nil: whoever
// else listens calls Hear.
func (w *Witness) Run(ctx context.Context, ear Ear) {
	rooms := make(map[string]bool)
	failures := patience.Backoff{Worst: worstDelay}
	for {
		wait := witnessEvery
		err := w.Look(ctx)
		if err == nil && ear != nil {
			err = w.listen(ctx, ear, rooms)
		}
		if err != nil && ctx.Err() == nil {
			wait = max(wait, failures.Next())
			w.settler.log.Warn("cannot hold redis to what was heard", "error", err, "again_in", wait)
		} else {
			failures.Reset()
		}
		if !patience.Pause(ctx, wait, w.nudge) {
			return
		}
	}
}

// listen keeps an ear on the rooms where something can be granted, or is to be settled.
func (w *Witness) listen(ctx context.Context, ear Ear, rooms map[string]bool) error {
	rounds, err := w.settler.listUnsettled(ctx)
	if err != nil {
		return err
	}
	wanted := make(map[string]bool, len(rounds))
	for _, round := range rounds {
		wanted[round.Room] = true
	}
	for room := range rooms {
		if wanted[room] {
			continue
		}
		if err := ear.Remove(ctx, room); err != nil {
			return err
		}
		delete(rooms, room)
	}
	for room := range wanted {
		if rooms[room] {
			continue
		}
		if err := ear.Add(ctx, room); err != nil {
			return err
		}
		rooms[room] = true
	}
	return nil
}

// Look asks Redis about every round that something was heard of.
func (w *Witness) Look(ctx context.Context) error {
	w.mu.Lock()
	ids := make([]string, 0, len(w.rounds))
	for id := range w.rounds {
		ids = append(ids, id)
	}
	w.mu.Unlock()
	var errs []error
	for _, id := range ids {
		if err := w.lookAt(ctx, id); err != nil {
			errs = append(errs, fmt.Errorf("round %s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

func (w *Witness) lookAt(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, stepFor)
	defer cancel()
	heard := w.heard(id) // before Redis is asked
	mark, err := w.settler.outbox.Watermark(ctx, id)
	if errors.Is(err, game.ErrGone) || errors.Is(err, game.ErrTorn) {
		return w.withoutKeys(ctx, id, heard)
	}
	if err != nil {
		return err
	}
	if mark.Claimed.Packets < heard.highest {
		return w.alarm(ctx, id, heard.highest, mark, backwards(heard.highest, 0, mark))
	}
	for _, claim := range heard.doubted {
		another, err := w.another(ctx, id, claim)
		if err != nil {
			return err
		}
		if another != "" {
			return w.alarm(ctx, id, heard.highest, mark, another)
		}
		w.believe(id, claim)
	}
	w.saw(id, mark)
	return nil
}

// saw takes note of where Redis stands.
func (w *Witness) saw(id string, mark game.Watermark) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.rounds[id]
	if t == nil {
		return
	}
	if mark.Phase == game.Closed && mark.Drained() && t.highest <= mark.Claimed.Packets && len(t.doubted) == 0 {
		delete(w.rounds, id) // the ledger knows all of it from now on
		return
	}
	t.highest = max(t.highest, mark.Claimed.Packets)
}

// another tells whose claim Redis has in the place of one that was heard of.
func (w *Witness) another(ctx context.Context, round string, heard game.Claim) (string, error) {
	found, err := w.settler.outbox.Claims(ctx, round, heard.Number-1, 1)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0 || found[0].Number != heard.Number: // gone since: the count will tell; or not to be read: settlers do
		return "", nil
	case found[0] == heard:
		return "", nil
	}
	return fmt.Sprintf("claim %d was granted a second time: first %d cents for drop %d, then %d for drop %d", heard.Number,
		heard.Cents, heard.Drop, found[0].Cents, found[0].Drop), nil
}

// alarm freezes the round, and begins anew with what Redis holds of it.
func (w *Witness) alarm(ctx context.Context, id string, number int, mark game.Watermark, why string) error {
	if err := w.settler.lost(ctx, id, number, why); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if t := w.rounds[id]; t != nil {
		t.highest, t.last, t.doubted = mark.Claimed.Packets, game.Claim{}, nil
	}
	return nil
}

func (w *Witness) heard(id string) testimony {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t := w.rounds[id]; t != nil {
		return testimony{highest: t.highest, doubted: slices.Clone(t.doubted)}
	}
	return testimony{}
}

// believe strikes out what Redis still has.
func (w *Witness) believe(id string, claim game.Claim) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t := w.rounds[id]; t != nil {
		t.doubted = slices.DeleteFunc(t.doubted, func(c game.Claim) bool { return c == claim })
	}
}

// withoutKeys holds the ledger to what was heard of a round whose keys are lost: wins that are not in the ledger can come from
// nowhere any more. A settler may have some in hand, or make the keys anew, so it is said only when it was so for a while.
func (w *Witness) withoutKeys(ctx context.Context, id string, heard testimony) error {
	account, err := w.settler.books.Account(ctx, id)
	if err != nil {
		return err
	}
	missing := heard.highest > account.Highest && heard.highest > account.LossAcceptedUpTo
	if !w.missingFor(id, missing) {
		return nil
	}
	return w.settler.lost(ctx, id, heard.highest, fmt.Sprintf("claim %d had been granted, the ledger knows of %d, and redis has lost the round",
		heard.highest, account.Highest))
}

// missingFor reports whether wins have been missing for long enough to say so. Rounds without keys are forgotten after an hour.
func (w *Witness) missingFor(id string, missing bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.rounds[id]
	switch {
	case t == nil:
		return false
	case time.Since(t.at) > forgetGoneAfter:
		delete(w.rounds, id)
		return false
	case !missing:
		t.missing = time.Time{}
		return false
	case t.missing.IsZero():
		t.missing = time.Now()
	}
	return time.Since(t.missing) >= missingAfter
}
