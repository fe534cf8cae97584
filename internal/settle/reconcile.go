package settle

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"redrain/internal/backoff"
	"redrain/internal/game"
)

// Reconcile waits until claims on their way are booked: reconcileTimeout at most, and stalledAfter if no entry is booked meanwhile.
const (
	reconcileTimeout = 10 * time.Second
	stalledAfter     = 3 * time.Second
)

// Reconcile compares a whole round with its books. It changes nothing and freezes nothing. It waits up to 10 s for claims on their
// way to the ledger; if none is booked for 3 s, the missing ones are a difference. game.ErrNotFound: there is no such round.
// game.ErrWrongPhase: it has not begun.
func (s *Settler) Reconcile(ctx context.Context, id string) (game.Reconciliation, error) {
	r, err := s.reconcile(ctx, id)
	if err != nil {
		return game.Reconciliation{}, fmt.Errorf("reconcile round %s: %w", id, err)
	}
	return r, nil
}

func (s *Settler) reconcile(ctx context.Context, id string) (game.Reconciliation, error) {
	mark, passed, stalled, errMark := s.waitForMark(ctx, id)
	torn := errors.Is(errMark, game.ErrTorn)
	if errMark != nil && !torn {
		return game.Reconciliation{}, errMark
	}
	account, err := s.books.Account(ctx, id)
	if err != nil {
		return game.Reconciliation{}, err
	}
	c := comparison{Reconciliation: game.Reconciliation{
		Round: id, Room: account.Room, Phase: account.Phase, Frozen: account.Frozen, BudgetCents: account.Settings.Total,
		InFlight: mark != nil && !passed, Differences: []game.Difference{},
	}}
	if err := s.compareLedger(ctx, &c, account); err != nil {
		return game.Reconciliation{}, err
	}
	if torn && !account.KeysExpiring {
		c.expect("redis: keys that fit together", 1, 0)
	}
	if mark != nil {
		if err := s.compareRedis(ctx, &c, account, *mark, passed || stalled); err != nil {
			return game.Reconciliation{}, err
		}
	}
	c.Agrees = len(c.Differences) == 0
	return c.Reconciliation, nil
}

// waitForMark reads a watermark and waits until everything granted up to it is booked (passed), or nothing is booked any more
// (stalled), or the time is up. mark nil: Redis has no keys of the round. If Redis loses claims meanwhile, it starts over with a
// new watermark.
func (s *Settler) waitForMark(ctx context.Context, id string) (mark *game.Watermark, passed, stalled bool, err error) {
	began := time.Now()
	moved, last := began, game.Watermark{}
	for {
		now, err := s.outbox.Watermark(ctx, id)
		if errors.Is(err, game.ErrGone) {
			return nil, false, false, nil
		}
		if err != nil {
			return nil, false, false, err
		}
		if mark == nil || now.Claimed.Packets < mark.Claimed.Packets {
			mark = &now
		}
		if now.Delivered != last.Delivered || now.FirstPending != last.FirstPending || now.Pending != last.Pending {
			moved, last = time.Now(), now
		}
		passed, stalled = now.Passed(*mark), time.Since(moved) >= stalledAfter
		if passed || stalled || time.Since(began) >= reconcileTimeout {
			return mark, passed, stalled, nil
		}
		if !backoff.Sleep(ctx, emptyPause, nil) {
			return nil, false, false, ctx.Err() //nolint:wrapcheck // says itself what it is
		}
	}
}

// comparison collects the differences found.
type comparison struct{ game.Reconciliation }

func (c *comparison) expect(what string, expected, found int64) {
	if expected != found {
		c.Differences = append(c.Differences, game.Difference{What: what, Expected: expected, Found: found})
	}
}

// compareLedger compares the totals that the ledger keeps of the round with the rows behind them: its claims, the movements between
// its escrow and its host, and the escrow's balance. It reads only this round's rows, so its cost does not grow with others.
func (s *Settler) compareLedger(ctx context.Context, c *comparison, account game.Account) error {
	rows, errRows := s.books.SumClaims(ctx, c.Round, 0, math.MaxInt32)
	escrow, errEscrow := s.books.Escrow(ctx, account.Round)
	moved, errMoved := s.books.Moved(ctx, c.Round)
	if err := errors.Join(errRows, errEscrow, errMoved); err != nil {
		return err
	}
	again, err := s.books.Account(ctx, c.Round)
	if err != nil {
		return err
	}
	c.Ledger = game.LedgerBooks{
		Claims: account.Booked.Packets, ClaimedCents: account.Booked.Cents, EscrowCents: escrow, Quarantined: account.Quarantined,
		DeadLetters: account.DeadLetters, AcceptedClaims: account.Accepted.Packets, AcceptedCents: account.Accepted.Cents,
	}
	if again.Booked != account.Booked || again.Refunded != account.Refunded {
		c.InFlight = true // something was booked between the reads, so they cannot be compared
		return nil
	}
	c.expect("rows of claims", int64(account.Booked.Packets), int64(rows.Packets))
	c.expect("cents of claims", int64(account.Booked.Cents), int64(rows.Cents))
	rest := account.Settings.Total - account.Booked.Cents
	if account.Refunded {
		c.Ledger.RefundedCents, rest = rest, 0
	}
	c.expect("escrow_cents", int64(rest), int64(escrow))
	c.expect("cents moved into escrow", int64(account.Settings.Total), int64(moved.In))
	c.expect("cents moved back to the host", int64(c.Ledger.RefundedCents), int64(moved.Back))
	return nil
}

// compareRedis compares the account, which was read after the mark, with the mark. It compares claims only if complete: all up to the
// mark are booked, or never will be.
func (s *Settler) compareRedis(ctx context.Context, c *comparison, account game.Account, mark game.Watermark, complete bool) error {
	c.Redis = &game.RedisBooks{
		Claims: mark.Claimed.Packets, ClaimedCents: mark.Claimed.Cents, RestCents: mark.Rest, RefundedCents: mark.Refunded,
	}
	c.expect("redis: budget_cents", int64(account.Settings.Total), int64(mark.Claimed.Cents+mark.Rest+mark.Refunded))
	if account.Phase.Over() && mark.Phase != game.Closed {
		c.expect("redis: closed", 1, 0)
	}
	if err := s.compareHighest(ctx, c, account, mark); err != nil {
		return err
	}
	if !complete {
		return nil
	}
	booked, err := s.books.SumClaims(ctx, c.Round, 0, max(mark.Claimed.Packets, account.LossAcceptedUpTo))
	if err != nil {
		return err
	}
	extra, err := s.books.SumClaims(ctx, c.Round, account.Settings.Packets, math.MaxInt32)
	if err != nil {
		return err
	}
	c.expect("claims", int64(mark.Claimed.Packets+account.Accepted.Packets), int64(booked.Packets+extra.Packets))
	c.expect("claimed_cents", int64(mark.Claimed.Cents+account.Accepted.Cents), int64(booked.Cents+extra.Cents))
	if account.Refunded && mark.Phase == game.Closed {
		c.expect("refunded_cents", int64(mark.Refunded-account.Accepted.Cents), int64(c.Ledger.RefundedCents))
	}
	return nil
}

// compareHighest reads Redis again, after the ledger: it must have the highest claim number that the ledger has, unless the host has
// excused that loss.
func (s *Settler) compareHighest(ctx context.Context, c *comparison, account game.Account, mark game.Watermark) error {
	if account.Highest <= account.LossAcceptedUpTo || account.Highest <= mark.Claimed.Packets {
		return nil
	}
	now, err := s.outbox.Watermark(ctx, c.Round)
	if errors.Is(err, game.ErrGone) || errors.Is(err, game.ErrTorn) {
		return nil // lost since the first read; the next reconciliation reports it
	}
	if err != nil {
		return err
	}
	c.expect("highest claim", int64(max(now.Claimed.Packets, account.Highest)), int64(now.Claimed.Packets))
	return nil
}
