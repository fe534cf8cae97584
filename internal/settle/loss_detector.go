package settle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"redrain/internal/backoff"
	"redrain/internal/game"
)

// LossDetector notices that Redis has lost claims. A Redis that restarts without its newest writes no longer has claims that
// players were already told of, and may since have granted their numbers to other players. The detector compares Redis with the
// claims that this process has learned of, by pub/sub and from replies to its own grabs. If Redis has lost one of them, it freezes
// the round, whichever process granted the claims or settles them.
//
// How it compares:
//
//   - Redis is read only after a claim was observed. So a claim that is on its way to this process never looks like a loss.
//   - Claims of a round are numbered 1, 2, 3 and so on. If Redis counts fewer claims than the highest number observed, it has
//     lost some. This is checked every time.
//   - If it counts as many, it may have lost some and granted their numbers again. Redis loses writes only from the end, so a
//     Redis that still has the last claim observed also has all claims before it. That one claim is looked up whenever messages
//     were missed, or arrived with a gap in their numbers or out of order; as long as they arrive in sequence there is no need.
//
// Safe for concurrent use.
type LossDetector struct {
	settler *Settler
	wake    chan struct{} // ends the pause of Run

	mu     sync.Mutex
	rounds map[string]*observed // by round
}

// observed is what this process has learned of a round.
type observed struct {
	room       string
	lastSeen   time.Time    // when something was last learned
	highest    int          // highest number of a claim
	last       game.Claim   // the newest claim that was published
	unverified []game.Claim // claims to look up in Redis
	// missingSince is since when the round's keys are gone and the ledger lacks claims that were observed; zero: it does not.
	missingSince time.Time
}

const (
	// checkInterval is how often Redis is checked.
	checkInterval = time.Second
	// maxUnverified bounds how many claims of a round are looked up in one check.
	maxUnverified = 64
	// missingAfter is how long the ledger may lack claims of a round without keys before they count as lost: a settler may still
	// be booking them.
	missingAfter = 3 * time.Second
	// forgetAfter is how long a round without keys is remembered after the last that was observed of it. Its keys may be restored
	// from a backup, with fewer claims in them.
	forgetAfter = time.Hour
)

// NewLossDetector returns a detector that has observed nothing yet; Run makes it check.
func NewLossDetector(settler *Settler) *LossDetector {
	return &LossDetector{settler: settler, wake: make(chan struct{}, 1), rounds: make(map[string]*observed)}
}

// HandleEvent records one event from Redis. It never blocks. Events must arrive in the order in which Redis sent them.
func (d *LossDetector) HandleEvent(event game.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case event.Claims != nil && len(event.Claims.Claims) > 0:
		d.recordClaims(event.Room, event.Claims)
	case event.Missed:
		for _, o := range d.rounds {
			if o.room == event.Room {
				d.queueVerification(o)
			}
		}
	}
}

// recordClaims records published claims. If their numbers do not continue those before, the claim before must be verified.
func (d *LossDetector) recordClaims(room string, claims *game.Claimed) {
	o := d.observedRound(room, claims.Round)
	first, last := claims.Claims[0], claims.Claims[len(claims.Claims)-1]
	if first.Number != o.last.Number+1 {
		d.queueVerification(o)
	}
	o.last = last
	o.highest = max(o.highest, last.Number)
}

// RecordGrant records the number of a claim from a reply of Redis to a grab of this process.
func (d *LossDetector) RecordGrant(room, round string, number int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.observedRound(room, round)
	o.highest = max(o.highest, number)
}

// observedRound returns what was observed of a round, to add to it. Needs mu.
func (d *LossDetector) observedRound(room, round string) *observed {
	o := d.rounds[round]
	if o == nil {
		o = &observed{room: room}
		d.rounds[round] = o
	}
	o.lastSeen = time.Now()
	return o
}

// queueVerification has the last published claim of a round looked up by the next check. Needs mu.
func (d *LossDetector) queueVerification(o *observed) {
	if o.last.Number == 0 {
		return
	}
	if len(o.unverified) == maxUnverified {
		o.unverified = o.unverified[:maxUnverified-1]
	}
	o.unverified = append(o.unverified, o.last)
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// RoomSubscription is a subscription to the events of rooms, which it passes to HandleEvent.
type RoomSubscription interface {
	SubscribeRoom(ctx context.Context, room string) error
	UnsubscribeRoom(ctx context.Context, room string) error
}

// Run checks until ctx is done. It subscribes to the rooms of all rounds that are not settled; with a nil subscription the caller
// itself passes events to HandleEvent.
func (d *LossDetector) Run(ctx context.Context, subscription RoomSubscription) {
	rooms := make(map[string]bool)
	failures := backoff.Exponential{Max: maxRetryDelay}
	for {
		wait := checkInterval
		err := d.Check(ctx)
		if err == nil && subscription != nil {
			err = d.followRooms(ctx, subscription, rooms)
		}
		if err != nil && ctx.Err() == nil {
			wait = max(wait, failures.Next())
			d.settler.log.Warn("cannot check whether redis has lost claims", "error", err, "again_in", wait)
		} else {
			failures.Reset()
		}
		if !backoff.Sleep(ctx, wait, d.wake) {
			return
		}
	}
}

// followRooms subscribes to the rooms of rounds that are not settled, and unsubscribes from the others. rooms are those that are
// subscribed to.
func (d *LossDetector) followRooms(ctx context.Context, subscription RoomSubscription, rooms map[string]bool) error {
	rounds, err := d.settler.listUnsettled(ctx)
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
		if err := subscription.UnsubscribeRoom(ctx, room); err != nil {
			return err
		}
		delete(rooms, room)
	}
	for room := range wanted {
		if rooms[room] {
			continue
		}
		if err := subscription.SubscribeRoom(ctx, room); err != nil {
			return err
		}
		rooms[room] = true
	}
	return nil
}

// Check checks every round of which something was observed.
func (d *LossDetector) Check(ctx context.Context) error {
	d.mu.Lock()
	ids := make([]string, 0, len(d.rounds))
	for id := range d.rounds {
		ids = append(ids, id)
	}
	d.mu.Unlock()
	var errs []error
	for _, id := range ids {
		if err := d.checkRound(ctx, id); err != nil {
			errs = append(errs, fmt.Errorf("round %s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

func (d *LossDetector) checkRound(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	seen := d.copyObserved(id) // before Redis is read
	mark, err := d.settler.outbox.Watermark(ctx, id)
	if errors.Is(err, game.ErrGone) || errors.Is(err, game.ErrTorn) {
		return d.checkAgainstLedger(ctx, id, seen)
	}
	if err != nil {
		return err
	}
	if mark.Claimed.Packets < seen.highest {
		return d.reportLoss(ctx, id, seen.highest, mark, describeLoss(seen.highest, 0, mark))
	}
	for _, claim := range seen.unverified {
		replaced, err := d.findReplacement(ctx, id, claim)
		if err != nil {
			return err
		}
		if replaced != "" {
			return d.reportLoss(ctx, id, seen.highest, mark, replaced)
		}
		d.markVerified(id, claim)
	}
	d.recordWatermark(id, mark)
	return nil
}

// recordWatermark records how many claims Redis has. A closed round whose claims are all booked is forgotten.
func (d *LossDetector) recordWatermark(id string, mark game.Watermark) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.rounds[id]
	if o == nil {
		return
	}
	if mark.Phase == game.Closed && mark.Drained() && o.highest <= mark.Claimed.Packets && len(o.unverified) == 0 {
		delete(d.rounds, id) // from now on a settler compares Redis with the ledger, which has all its claims
		return
	}
	o.highest = max(o.highest, mark.Claimed.Packets)
}

// findReplacement looks an observed claim up in Redis. If Redis has another claim under the same number, it says which; else "".
func (d *LossDetector) findReplacement(ctx context.Context, round string, claim game.Claim) (string, error) {
	found, err := d.settler.outbox.Claims(ctx, round, claim.Number-1, 1)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		// Redis has lost the claim only since its watermark was read: the next check will see the smaller count.
		return "", nil
	case found[0].Number != claim.Number:
		// The outbox entry with the claim does not parse. That is found out by the settlers, who store it as a dead letter.
		return "", nil
	case found[0] == claim:
		return "", nil
	}
	return fmt.Sprintf("claim %d was granted a second time: first %d cents for drop %d, then %d for drop %d", claim.Number,
		claim.Cents, claim.Drop, found[0].Cents, found[0].Drop), nil
}

// reportLoss freezes the round. From then on what Redis has left of it is what counts as observed.
func (d *LossDetector) reportLoss(ctx context.Context, id string, number int, mark game.Watermark, why string) error {
	if err := d.settler.freezeForLoss(ctx, id, number, why); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if o := d.rounds[id]; o != nil {
		o.highest, o.last, o.unverified = mark.Claimed.Packets, game.Claim{}, nil
	}
	return nil
}

// copyObserved copies what a check needs of a round.
func (d *LossDetector) copyObserved(id string) observed {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o := d.rounds[id]; o != nil {
		return observed{highest: o.highest, unverified: slices.Clone(o.unverified)}
	}
	return observed{}
}

// markVerified removes a claim that Redis still has from those to look up.
func (d *LossDetector) markVerified(id string, claim game.Claim) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o := d.rounds[id]; o != nil {
		o.unverified = slices.DeleteFunc(o.unverified, func(c game.Claim) bool { return c == claim })
	}
}

// checkAgainstLedger compares what was observed of a round whose keys are gone with the ledger. Claims that the ledger lacks too are
// lost. A settler may still be booking them, or be restoring the keys, so this is reported only once it has lasted for a while.
func (d *LossDetector) checkAgainstLedger(ctx context.Context, id string, seen observed) error {
	account, err := d.settler.books.Account(ctx, id)
	if err != nil {
		return err
	}
	missing := seen.highest > account.Highest && seen.highest > account.LossAcceptedUpTo
	if !d.missingLongEnough(id, missing) {
		return nil
	}
	return d.settler.freezeForLoss(ctx, id, seen.highest, fmt.Sprintf("claim %d had been granted, the ledger knows of %d, and redis has lost the round",
		seen.highest, account.Highest))
}

// missingLongEnough records whether the ledger lacks claims of a round without keys, and reports whether it has for missingAfter.
// A round of which nothing was observed for an hour is forgotten.
func (d *LossDetector) missingLongEnough(id string, missing bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.rounds[id]
	switch {
	case o == nil:
		return false
	case time.Since(o.lastSeen) > forgetAfter:
		delete(d.rounds, id)
		return false
	case !missing:
		o.missingSince = time.Time{}
		return false
	case o.missingSince.IsZero():
		o.missingSince = time.Now()
	}
	return time.Since(o.missingSince) >= missingAfter
}
