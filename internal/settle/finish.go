package settle

import (
	"context"
	"errors"
	"time"

	"redrain/internal/game"
	"redrain/internal/patience"
)

// Hurry makes Run work without rests and with short delays after failures, for good: it is for a process that is about to end
// with its Redis. Calling it again changes nothing.
func (s *Settler) Hurry() { s.hasten() }

func (s *Settler) hurrying() bool {
	select {
	case <-s.hurry:
		return true
	default:
		return false
	}
}

// pause waits before the next look at a round. Hurry ends a pause under way, and bounds those that follow.
func (s *Settler) pause(ctx context.Context, wait time.Duration) bool {
	if s.hurrying() {
		return patience.Pause(ctx, min(wait, rainPause), nil)
	}
	return patience.Pause(ctx, wait, s.hurry)
}

// Finish waits while Run works until every round is settled. Of those that are open or frozen, which cannot be settled, it
// waits until all of their claims are in the ledger. An error says why that is not so when ctx ends.
func (s *Settler) Finish(ctx context.Context) error {
	for {
		unfinished, err := s.unfinished(ctx)
		if err == nil && !unfinished {
			return nil
		}
		s.Nudge()
		if !patience.Pause(ctx, openPause, nil) {
			return errors.Join(ctx.Err(), err)
		}
	}
}

func (s *Settler) unfinished(ctx context.Context) (bool, error) {
	rounds, err := s.listUnsettled(ctx)
	if err != nil {
		return false, err
	}
	for _, round := range rounds {
		if round.Phase == game.Closed && !round.Frozen {
			return true, nil
		}
		mark, err := s.outbox.Watermark(ctx, round.ID)
		if errors.Is(err, game.ErrGone) {
			continue
		}
		if err != nil || !mark.Drained() {
			return true, err
		}
	}
	return false, nil
}

// Unbooked is what a round has granted and the ledger is not known to hold: claims of a transaction whose outcome is unknown
// count too.
type Unbooked struct {
	Room, Round string
	Left        game.Total
}

// Unbooked looks through the rounds that something was heard of. It asks Redis alone, so that it can be told what is not in the
// books while the database is away. It takes all that is in the outboxes, as a settler does: it is for the end of a process
// that ends with its Redis.
func (w *Witness) Unbooked(ctx context.Context) ([]Unbooked, error) {
	var all []Unbooked
	for id, room := range w.rooms() {
		left, err := w.settler.unbooked(ctx, id)
		if err != nil && !errors.Is(err, game.ErrGone) {
			return all, err
		}
		if left.Packets > 0 {
			all = append(all, Unbooked{room, id, left})
		}
	}
	return all, nil
}

// rooms are those of the rounds that something was heard of, by round.
func (w *Witness) rooms() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	rooms := make(map[string]string, len(w.rounds))
	for id, t := range w.rounds {
		rooms[id] = t.room
	}
	return rooms
}

// unbooked counts the claims in entries of a round's outbox that are not acknowledged.
func (s *Settler) unbooked(ctx context.Context, round string) (sum game.Total, err error) {
	for more := true; more; { // from now on all of them are given to this process
		entries, err := s.outbox.Take(ctx, round, mostEntries)
		if err != nil {
			return sum, err
		}
		more = len(entries) == mostEntries
	}
	for after := "0"; ; {
		entries, err := s.outbox.Retake(ctx, round, after, mostEntries)
		if err != nil || len(entries) == 0 {
			return sum, err
		}
		after = entries[len(entries)-1].ID
		for i := range entries {
			for _, claim := range entries[i].Claims {
				sum.Packets++
				sum.Cents += claim.Cents
			}
		}
	}
}
