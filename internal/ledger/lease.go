package ledger

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"redrain/internal/backoff"
	"redrain/internal/game"
)

// leaseTimes are how a lease is kept. Whoever could not renew it stops trusting it well before others may take it, so clocks
// need to run at the same speed, not show the same time.
type leaseTimes struct {
	lasts time.Duration // after it was taken or renewed, by the database's clock
	trust time.Duration // after a renewal was sent, by the holder's clock
	every time.Duration // a renewal
	try   time.Duration // one statement may take
}

// leaseLasting are the times of a lease: 30 s is 20 s of trust, a renewal every 5 s, and 3 s for each.
func leaseLasting(lasts time.Duration) leaseTimes {
	return leaseTimes{lasts: lasts, trust: lasts * 2 / 3, every: lasts / 6, try: lasts / 10}
}

const leaseLasts = 30 * time.Second

var errLeaseLost = errors.New("another instance may be alone on this database by now")

// rowLease is the lease of the row in the table leases that this instance holds. A row works through poolers: it belongs to no
// connection, and no transaction stays open.
type rowLease struct {
	*Ledger
	times   leaseTimes
	holder  string
	trusted atomic.Int64 // until when, in ns since epoch
	epoch   time.Time    // of the monotonic clock, which goes on while the process is stopped, but not while the machine sleeps
}

// takeLease takes the lease once it is free, and keeps it. Whoever has it and renews it is alive: game.ErrBusy.
func (l *Ledger) takeLease(ctx context.Context, lost func(why error)) (release func() error, err error) {
	r := &rowLease{Ledger: l, times: l.waits.lease, holder: holderName(), epoch: time.Now()}
	within := r.times.lasts + r.times.every
	waiting, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("it is not free after %v", within))
	defer cancel()
	if err := r.await(waiting); err != nil {
		return nil, fmt.Errorf("be alone on the database: %w", err)
	}
	l.lease.Store(r)
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	var keeper sync.WaitGroup
	keeper.Go(func() {
		if err := r.keep(keeping); err != nil {
			lost(err)
		}
	})
	return func() error {
		stop()
		keeper.Wait()
		r.trusted.Store(0)
		return r.giveBack(context.WithoutCancel(ctx))
	}, nil
}

func holderName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%.60s, process %d, %s", host, os.Getpid(), rand.Text()[:8])
}

func (r *rowLease) await(ctx context.Context) error {
	first, err := r.look(ctx)
	if err != nil {
		return err
	}
	defer r.sayWhileWaiting("waiting for the lease of another instance with an embedded Redis, which may be dead",
		"holder", first.Holder, "at_most", r.times.lasts)()
	for {
		took, err := r.take(ctx)
		if took || err != nil {
			return err
		}
		switch now, err := r.look(ctx); {
		case err != nil:
			return err
		case now != first && now.Holder != "":
			return fmt.Errorf("%s: %w", now.Holder, game.ErrBusy)
		}
		if !backoff.Sleep(ctx, r.times.every/10, nil) {
			return context.Cause(ctx)
		}
	}
}

// keep renews the lease until ctx is done. It returns why the lease is lost. What was not renewed in time, and taken by nobody
// else either, is renewed late.
func (r *rowLease) keep(ctx context.Context) error {
	pause := r.times.every
	for backoff.Sleep(ctx, pause, nil) {
		renewed, err := r.renew(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // released
		}
		switch {
		case err == nil && !renewed:
			r.trusted.Store(0)
			return fmt.Errorf("another instance has taken the lease: %w", errLeaseLost)
		case err == nil:
			pause = r.times.every
			continue
		case !r.held():
			return fmt.Errorf("the lease could not be renewed for %v: %w: %w", r.times.trust, errLeaseLost, err)
		}
		r.log.Warn("cannot renew the lease of the database", "error", err, "stops_in", r.left().Round(time.Second))
		pause = r.times.every / 5
	}
	return nil
}

func (r *rowLease) left() time.Duration { return time.Duration(r.trusted.Load()) - time.Since(r.epoch) }

// held reports that no other instance can have the lease.
func (r *rowLease) held() bool { return r.left() > 0 }

// leaseRow is the row of the lease. Its moments are in ms since 1970 by the clock of the database.
type leaseRow struct {
	Holder    string // empty: nobody
	ExpiresAt int64
}

const leaseName = "embedded redis"

func (r *rowLease) look(ctx context.Context) (row leaseRow, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.times.try)
	defer cancel()
	err = r.read.NewSelect().Table("leases").Column("holder", "expires_at").Where("name = ?", leaseName).Scan(ctx, &row)
	if err != nil {
		return row, fmt.Errorf("read the lease: %w", err)
	}
	return row, nil
}

// take takes the lease if it is free.
func (r *rowLease) take(ctx context.Context) (bool, error) {
	return r.hold(ctx, "expires_at <= "+r.database.now)
}

// renew fails if anybody else has held the lease since, dead by now or not.
func (r *rowLease) renew(ctx context.Context) (bool, error) {
	return r.hold(ctx, "holder = ?", r.holder)
}

func (r *rowLease) hold(ctx context.Context, condition string, args ...any) (bool, error) {
	sent := time.Since(r.epoch)
	held, err := r.set(ctx, r.holder, r.times.lasts, condition, args...)
	if held {
		r.trusted.Store(int64(sent + r.times.trust))
	}
	return held, err
}

func (r *rowLease) giveBack(ctx context.Context) error {
	_, err := r.set(ctx, "", 0, "holder = ?", r.holder)
	return err
}

// set is let through also when nothing else may be changed, hence the read pool, which is the same on a database server.
func (r *rowLease) set(ctx context.Context, holder string, lasts time.Duration, condition string, args ...any) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, r.times.try)
	defer cancel()
	result, err := r.read.NewUpdate().Table("leases").Set("holder = ?", holder).
		Set("expires_at = "+r.database.now+" + ?", lasts.Milliseconds()).
		Where("name = ?", leaseName).Where(condition, args...).Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("write the lease: %w", err)
	}
	rows, err := result.RowsAffected()
	return rows > 0, err
}
