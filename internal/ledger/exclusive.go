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

// exclusiveLockTimeout is how long the lock file of an instance that died may take to become free.
const exclusiveLockTimeout = 5 * time.Second

// LockExclusively makes this instance the only one that uses the database, until it calls release. An instance with an embedded
// Redis needs that: a second one would not find the rounds of the first in its own Redis, and would treat them as lost. Only
// instances that call LockExclusively exclude each other. game.ErrBusy: another instance has the lock.
//
// With SQLite the lock is a locked file. On a database server it is a lease that is renewed every 5 s; after an instance that died
// without release it expires within 30 s. expired is called at most once, and not during release, when another instance may
// have the lease: because it has taken it, or because this one could not renew it for 20 s. The caller then has to stop; until it
// does, all its changes to the database are refused.
func (l *Ledger) LockExclusively(ctx context.Context, expired func(why error)) (release func() error, err error) {
	if l.database.lockExclusively == nil {
		return l.acquireLease(ctx, expired)
	}
	ctx, cancel := context.WithTimeout(ctx, exclusiveLockTimeout)
	defer cancel()
	defer l.logWhileWaiting("waiting for another instance with an embedded Redis to end", "at_most", exclusiveLockTimeout)()
	release, err = l.database.lockExclusively(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("be alone on the database: %w", game.ErrBusy)
	}
	return release, err
}

// leaseTimes are the times of a lease. Its holder stops trusting it well before others may take it, so the clocks of the holder
// and the database need to run at the same speed, but not to show the same time.
type leaseTimes struct {
	duration         time.Duration // from taking or renewing it until it expires, by the database's clock
	trust            time.Duration // from sending a renewal until the holder must not rely on it any more, by the holder's clock
	renewEvery       time.Duration
	statementTimeout time.Duration
}

// newLeaseTimes derives the times from the duration: of 30 s, 20 s are trusted, it is renewed every 5 s, with 3 s for a statement.
func newLeaseTimes(duration time.Duration) leaseTimes {
	return leaseTimes{duration: duration, trust: duration * 2 / 3, renewEvery: duration / 6, statementTimeout: duration / 10}
}

const leaseDuration = 30 * time.Second

var errLeaseExpired = errors.New("another instance may be alone on this database by now")

// exclusiveLease is the row in the table leases, as this instance holds it. A row also works through a connection pooler: it
// belongs to no connection, and no transaction stays open for it.
type exclusiveLease struct {
	*Ledger
	times  leaseTimes
	holder string
	// trustedUntil is in ns since epoch. The clock of epoch is monotonic: it goes on while the process is stopped, but not while the
	// machine sleeps.
	trustedUntil atomic.Int64
	epoch        time.Time
}

// acquireLease waits until the lease is free, takes it, and renews it in the background until release. game.ErrBusy: another
// instance renews it, so it is alive.
func (l *Ledger) acquireLease(ctx context.Context, expired func(why error)) (release func() error, err error) {
	r := &exclusiveLease{Ledger: l, times: l.timeouts.lease, holder: newHolderName(), epoch: time.Now()}
	within := r.times.duration + r.times.renewEvery
	waiting, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("it is not free after %v", within))
	defer cancel()
	if err := r.awaitAndTake(waiting); err != nil {
		return nil, fmt.Errorf("be alone on the database: %w", err)
	}
	l.lease.Store(r)
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var renewer sync.WaitGroup
	renewer.Go(func() {
		if err := r.keepRenewing(renewing); err != nil {
			expired(err)
		}
	})
	return func() error {
		stop()
		renewer.Wait()
		r.trustedUntil.Store(0)
		return r.giveBack(context.WithoutCancel(ctx))
	}, nil
}

func newHolderName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%.60s, process %d, %s", host, os.Getpid(), rand.Text()[:8])
}

func (r *exclusiveLease) awaitAndTake(ctx context.Context) error {
	first, err := r.readRow(ctx)
	if err != nil {
		return err
	}
	defer r.logWhileWaiting("waiting for the lease of another instance with an embedded Redis, which may be dead",
		"holder", first.Holder, "at_most", r.times.duration)()
	for {
		took, err := r.take(ctx)
		if took || err != nil {
			return err
		}
		switch now, err := r.readRow(ctx); {
		case err != nil:
			return err
		case now != first && now.Holder != "": // it was renewed or taken meanwhile
			return fmt.Errorf("%s: %w", now.Holder, game.ErrBusy)
		}
		if !backoff.Sleep(ctx, r.times.renewEvery/10, nil) {
			return context.Cause(ctx)
		}
	}
}

// keepRenewing renews the lease until ctx is done, or returns why another instance may have it. A lease that has expired but that
// nobody else has taken is renewed late.
func (r *exclusiveLease) keepRenewing(ctx context.Context) error {
	pause := r.times.renewEvery
	for backoff.Sleep(ctx, pause, nil) {
		renewed, err := r.renew(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // released
		}
		switch {
		case err == nil && !renewed:
			r.trustedUntil.Store(0)
			return fmt.Errorf("another instance has taken the lease: %w", errLeaseExpired)
		case err == nil:
			pause = r.times.renewEvery
			continue
		case !r.trusted():
			return fmt.Errorf("the lease could not be renewed for %v: %w: %w", r.times.trust, errLeaseExpired, err)
		}
		r.log.Warn("cannot renew the lease of the database", "error", err, "stops_in", r.trustLeft().Round(time.Second))
		pause = r.times.renewEvery / 5
	}
	return nil
}

func (r *exclusiveLease) trustLeft() time.Duration {
	return time.Duration(r.trustedUntil.Load()) - time.Since(r.epoch)
}

// trusted reports that no other instance can have the lease.
func (r *exclusiveLease) trusted() bool { return r.trustLeft() > 0 }

// leaseRow is the row of the lease.
type leaseRow struct {
	Holder    string // empty: nobody
	ExpiresAt int64  // ms since 1970, by the clock of the database
}

const leaseName = "embedded redis"

func (r *exclusiveLease) readRow(ctx context.Context) (row leaseRow, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.times.statementTimeout)
	defer cancel()
	err = r.read.NewSelect().Table("leases").Column("holder", "expires_at").Where("name = ?", leaseName).Scan(ctx, &row)
	if err != nil {
		return row, fmt.Errorf("read the lease: %w", err)
	}
	return row, nil
}

// take takes the lease if it has expired or was given back.
func (r *exclusiveLease) take(ctx context.Context) (bool, error) {
	return r.holdIf(ctx, "expires_at <= "+r.database.now)
}

// renew fails if any other instance has held the lease since, even if that has died meanwhile.
func (r *exclusiveLease) renew(ctx context.Context) (bool, error) {
	return r.holdIf(ctx, "holder = ?", r.holder)
}

// holdIf makes this instance the holder if the row matches a condition.
func (r *exclusiveLease) holdIf(ctx context.Context, condition string, args ...any) (bool, error) {
	sent := time.Since(r.epoch)
	held, err := r.updateRow(ctx, r.holder, r.times.duration, condition, args...)
	if held {
		r.trustedUntil.Store(int64(sent + r.times.trust))
	}
	return held, err
}

func (r *exclusiveLease) giveBack(ctx context.Context) error {
	_, err := r.updateRow(ctx, "", 0, "holder = ?", r.holder)
	return err
}

// updateRow writes through the read pool: the write pool refuses all changes while the lease is not trusted. On a database
// server both are the same connections.
func (r *exclusiveLease) updateRow(ctx context.Context, holder string, duration time.Duration, condition string, args ...any) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, r.times.statementTimeout)
	defer cancel()
	result, err := r.read.NewUpdate().Table("leases").Set("holder = ?", holder).
		Set("expires_at = "+r.database.now+" + ?", duration.Milliseconds()).
		Where("name = ?", leaseName).Where(condition, args...).Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("write the lease: %w", err)
	}
	rows, err := result.RowsAffected()
	return rows > 0, err
}
