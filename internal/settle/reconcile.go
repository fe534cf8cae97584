package settle

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"redrain/internal/game"
	"redrain/internal/patience"
	"redrain/internal/wire"
)

// What is in flight is waited for until it is in the ledger: for reconcileFor at most, and for stalledFor while nothing of it moves.
const (
	reconcileFor = 10 * time.Second
	stalledFor   = 3 * time.Second
)

// Reconcile compares a round with its books now, in full. It changes nothing and freezes nothing. What is in flight is waited
// for, for 10 s at most; if nothing of it moves for 3 s, what is not in the ledger is a difference. game.ErrNotFound: there is no
// such round.
// game.ErrWrongPhase: it was never begun.
func (s *Settler) Reconcile(ctx context.Context, id string) (wire.Reconciliation, error) {
	r, err := s.reconcile(ctx, id)
	if err != nil {
		return wire.Reconciliation{}, fmt.Errorf("reconcile round %s: %w", id, err)
	}
	return r, nil
}

func (s *Settler) reconcile(ctx context.Context, id string) (wire.Reconciliation, error) {
	mark, passed, stalled, errMark := s.passedMark(ctx, id)
	torn := errors.Is(errMark, game.ErrTorn)
	if errMark != nil && !torn {
		return wire.Reconciliation{}, errMark
	}
	account, err := s.books.Account(ctx, id)
	if err != nil {
		return wire.Reconciliation{}, err
	}
	c := comparison{Reconciliation: wire.Reconciliation{
		Round: id, Room: account.Room, Phase: account.Phase, Frozen: account.Frozen, BudgetCents: account.Settings.Total,
		InFlight: mark != nil && !passed, Differences: []game.Difference{},
	}}
	if err := s.compareLedger(ctx, &c, account); err != nil {
		return wire.Reconciliation{}, err
	}
	if torn && !account.KeysExpiring {
		c.want("redis: keys that fit together", 1, 0)
	}
	if mark != nil {
		if err := s.compareRedis(ctx, &c, account, *mark, passed || stalled); err != nil {
			return wire.Reconciliation{}, err
		}
	}
	c.Agrees = len(c.Differences) == 0
	return c.Reconciliation, nil
}

// passedMark waits until the ledger has passed a watermark; nil: Redis holds nothing of the round. stalled: it has not, and nothing
// moves any more. A Redis that was set back since the first look makes it begin anew.
func (s *Settler) passedMark(ctx context.Context, id string) (mark *game.Watermark, passed, stalled bool, err error) {
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
		passed, stalled = now.Passed(*mark), time.Since(moved) >= stalledFor
		if passed || stalled || time.Since(began) >= reconcileFor {
			return mark, passed, stalled, nil
		}
		if !patience.Pause(ctx, openPause, nil) {
			return nil, false, false, ctx.Err() //nolint:wrapcheck // says itself what it is
		}
	}
}

// comparison collects differences.
type comparison struct{ wire.Reconciliation }

func (c *comparison) want(what string, expected, found int64) {
	if expected != found {
		c.Differences = append(c.Differences, game.Difference{What: what, Expected: expected, Found: found})
	}
}

// compareLedger holds what the ledger says of the round against the rows that make it up: its claims, what moved between its
// escrow and its host, and the escrow's balance. It looks at nothing of other rounds, however many there are.
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
	c.Ledger = wire.LedgerBooks{
		Claims: account.Booked.Packets, ClaimedCents: account.Booked.Cents, EscrowCents: escrow, Quarantined: account.Quarantined,
		DeadLetters: account.DeadLetters, AcceptedClaims: account.Accepted.Packets, AcceptedCents: account.Accepted.Cents,
	}
	if again.Booked != account.Booked || again.Refunded != account.Refunded {
		c.InFlight = true // booked meanwhile: what was read does not belong together
		return nil
	}
	c.want("rows of claims", int64(account.Booked.Packets), int64(rows.Packets))
	c.want("cents of claims", int64(account.Booked.Cents), int64(rows.Cents))
	rest := account.Settings.Total - account.Booked.Cents
	if account.Refunded {
		c.Ledger.RefundedCents, rest = rest, 0
	}
	c.want("escrow_cents", int64(rest), int64(escrow))
	c.want("cents moved into escrow", int64(account.Settings.Total), int64(moved.In))
	c.want("cents moved back to the host", int64(c.Ledger.RefundedCents), int64(moved.Back))
	return nil
}

// compareRedis holds the ledger, as the account said after the mark was taken, against the mark; its claims only if they must be
// there: the ledger has passed the mark, or never will.
func (s *Settler) compareRedis(ctx context.Context, c *comparison, account game.Account, mark game.Watermark, complete bool) error {
	c.Redis = &wire.RedisBooks{
		Claims: mark.Claimed.Packets, ClaimedCents: mark.Claimed.Cents, RestCents: mark.Rest, RefundedCents: mark.Refunded,
	}
	c.want("redis: budget_cents", int64(account.Settings.Total), int64(mark.Claimed.Cents+mark.Rest+mark.Refunded))
	if account.Phase.Over() && mark.Phase != game.Closed {
		c.want("redis: closed", 1, 0)
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
	c.want("claims", int64(mark.Claimed.Packets+account.Accepted.Packets), int64(booked.Packets+extra.Packets))
	c.want("claimed_cents", int64(mark.Claimed.Cents+account.Accepted.Cents), int64(booked.Cents+extra.Cents))
	if account.Refunded && mark.Phase == game.Closed {
		c.want("refunded_cents", int64(mark.Refunded-account.Accepted.Cents), int64(c.Ledger.RefundedCents))
	}
	return nil
}

// compareHighest asks Redis once more, after the ledger was read: it must know of the greatest number that the ledger does, unless
// a host has excused that.
func (s *Settler) compareHighest(ctx context.Context, c *comparison, account game.Account, mark game.Watermark) error {
	if account.Highest <= account.LossAcceptedUpTo || account.Highest <= mark.Claimed.Packets {
		return nil
	}
	now, err := s.outbox.Watermark(ctx, c.Round)
	if errors.Is(err, game.ErrGone) || errors.Is(err, game.ErrTorn) {
		return nil // lost between the two looks: the next one says so
	}
	if err != nil {
		return err
	}
	c.want("highest claim", int64(max(now.Claimed.Packets, account.Highest)), int64(now.Claimed.Packets))
	return nil
}
