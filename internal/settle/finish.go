package settle

import (
	"context"
	"errors"
	"time"

	"redrain/internal/backoff"
	"redrain/internal/game"
)

// Expedite shortens all pauses of Run from now on, also those after failures. It is for a process that is about to end together with
// its embedded Redis. Calling it again changes nothing.
func (s *Settler) Expedite() { s.closeExpedited() }

func (s *Settler) isExpedited() bool {
	select {
	case <-s.expedited:
		return true
	default:
		return false
	}
}

// pause waits before the next step of a round. Expedite ends a pause under way, and limits later ones.
func (s *Settler) pause(ctx context.Context, wait time.Duration) bool {
	if s.isExpedited() {
		return backoff.Sleep(ctx, min(wait, rainPause), nil)
	}
	return backoff.Sleep(ctx, wait, s.expedited)
}

// Finish waits until Run has settled every round that can be settled, and has booked all claims of those that cannot, because they
// are open or frozen. If ctx ends before, the error says what is missing.
func (s *Settler) Finish(ctx context.Context) error {
	for {
		unfinished, err := s.hasUnfinished(ctx)
		if err == nil && !unfinished {
			return nil
		}
		s.Wake()
		if !backoff.Sleep(ctx, emptyPause, nil) {
			return errors.Join(ctx.Err(), err)
		}
	}
}

func (s *Settler) hasUnfinished(ctx context.Context) (bool, error) {
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

// Unbooked sums the claims of a round that are not known to be in the ledger. Claims of a transaction whose outcome is unknown count
// too.
type Unbooked struct {
	Room, Round string
	Left        game.Total
}

// Unbooked returns the rounds with claims that are not known to be in the ledger, out of those of which something was observed. It
// reads Redis only, so it works while the database is down. All outbox entries are delivered to this process by it, so it is only
// for a process that ends together with its embedded Redis.
func (d *LossDetector) Unbooked(ctx context.Context) ([]Unbooked, error) {
	var all []Unbooked
	for id, room := range d.roomsByRound() {
		left, err := d.settler.sumUnacknowledged(ctx, id)
		if err != nil && !errors.Is(err, game.ErrGone) {
			return all, err
		}
		if left.Packets > 0 {
			all = append(all, Unbooked{room, id, left})
		}
	}
	return all, nil
}

// roomsByRound returns the rooms of all observed rounds.
func (d *LossDetector) roomsByRound() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	rooms := make(map[string]string, len(d.rounds))
	for id, o := range d.rounds {
		rooms[id] = o.room
	}
	return rooms
}

// sumUnacknowledged sums the claims in a round's outbox entries that are not acknowledged.
func (s *Settler) sumUnacknowledged(ctx context.Context, round string) (sum game.Total, err error) {
	for more := true; more; { // have all entries delivered to this process, so that they are pending here
		entries, err := s.outbox.ReadNew(ctx, round, maxBatchEntries)
		if err != nil {
			return sum, err
		}
		more = len(entries) == maxBatchEntries
	}
	for after := "0"; ; {
		entries, err := s.outbox.ReadPending(ctx, round, after, maxBatchEntries)
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
