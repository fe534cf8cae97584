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

// reconcileWithin bounds the wait for what is in flight.
const reconcileWithin = 3 * time.Second

// Reconcile compares a round with its books now, in full. It changes nothing and freezes nothing. What is in flight is waited
// for, for 3 s: what is not in the ledger by then is a difference. game.ErrNotFound: there is no such round.
// game.ErrWrongPhase: it was never begun.
func (s *Settler) Reconcile(ctx context.Context, id string) (wire.Reconciliation, error) {
	r, err := s.reconcile(ctx, id)
	if err != nil {
		return wire.Reconciliation{}, fmt.Errorf("reconcile round %s: %w", id, err)
	}
	return r, nil
}

func (s *Settler) reconcile(ctx context.Context, id string) (wire.Reconciliation, error) {
	mark, passed, errMark := s.passedMark(ctx, id)
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
	if torn && !account.Retired {
		c.want("redis: keys that fit together", 1, 0)
	}
	if mark != nil {
		if err := s.compareRedis(ctx, &c, account, *mark); err != nil {
			return wire.Reconciliation{}, err
		}
	}
	c.Agrees = len(c.Differences) == 0
	return c.Reconciliation, nil
}

// passedMark waits until the ledger has passed a watermark; nil: Redis holds nothing of the round. A Redis that was set back
// since the first look makes it begin anew.
func (s *Settler) passedMark(ctx context.Context, id string) (mark *game.Watermark, passed bool, err error) {
	for deadline := time.Now().Add(reconcileWithin); ; {
		now, err := s.outbox.Watermark(ctx, id)
		if errors.Is(err, game.ErrGone) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		if mark == nil || now.Claimed.Packets < mark.Claimed.Packets {
			mark = &now
		}
		if now.Passed(*mark) || time.Now().After(deadline) {
			return mark, now.Passed(*mark), nil
		}
		if !patience.Pause(ctx, openPause, nil) {
			return nil, false, ctx.Err() //nolint:wrapcheck // says itself what it is
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

// compareRedis holds the ledger, as the account said after the mark was taken, against the mark.
func (s *Settler) compareRedis(ctx context.Context, c *comparison, account game.Account, mark game.Watermark) error {
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
	booked, err := s.books.SumClaims(ctx, c.Round, 0, max(mark.Claimed.Packets, account.Excused))
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
	if account.Highest <= account.Excused || account.Highest <= mark.Claimed.Packets {
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
