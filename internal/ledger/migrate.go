package ledger

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/pressly/goose/v3"

	"redrain/internal/backoff"
)

// migrationFiles has a folder for each kind of database. A file that was released is never changed again.
//
//go:embed migrations
var migrationFiles embed.FS

const (
	// migrationLockTimeout is how long an instance waits for the migrations of others.
	migrationLockTimeout = 2 * time.Minute
	// migrationTimeout bounds the migrations themselves, which may rewrite large tables.
	migrationTimeout = 2 * time.Hour
	// lockRetryInterval is how often a lock that another instance holds is tried.
	lockRetryInterval = 200 * time.Millisecond
)

// errLockHeld says that another instance holds the lock now.
var errLockHeld = errors.New("another instance holds the lock")

// migrationLock lets one instance at a time migrate. It is not a lock of a database session: behind a connection pooler in
// transaction mode that would stay on a connection which serves other clients next.
type migrationLock struct {
	db *sql.DB // the migrations must run on it
	// run runs the migrations, commits them if they return no error, and releases the lock. Their context ends if the connection
	// that holds the lock breaks. It must be called exactly once.
	run func(ctx context.Context, migrations func(context.Context) error) error
}

// endLock rolls back the transaction that holds a migration lock. Closing its connection does that too, but only once the server has
// noticed, and the next instance may be faster. So an error is of no consequence.
func endLock(ctx context.Context, rollBack func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockKeepAlive)
	defer cancel()
	_ = rollBack(ctx)
}

// Migrate brings the tables to the newest version; it changes nothing if they are. Instances that start at the same time do it one
// after the other; one that waits logs that, and gives up after 2 minutes. On PostgreSQL all pending migrations are one
// transaction, elsewhere each is one of its own.
func (l *Ledger) Migrate(ctx context.Context) error {
	lock, err := l.awaitMigrationLock(ctx)
	if err != nil {
		return fmt.Errorf("migrate database: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, migrationTimeout)
	defer cancel()
	err = lock.run(ctx, func(ctx context.Context) error {
		provider, err := l.database.migrator(lock.db)
		if err == nil {
			_, err = provider.Up(ctx)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("migrate database: %w", err)
	}
	return nil
}

func (l *Ledger) awaitMigrationLock(ctx context.Context) (*migrationLock, error) {
	within := l.timeouts.migration
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("another instance has been migrating it for %v", within))
	defer cancel()
	defer l.logWhileWaiting("waiting for another instance that migrates the database", "at_most", within)()
	for {
		lock, err := l.database.lockMigrations(ctx)
		switch {
		case err == nil:
			return lock, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !errors.Is(err, errLockHeld):
			return nil, err
		}
		backoff.Sleep(ctx, lockRetryInterval, nil)
	}
}

func (db database) migrator(on *sql.DB) (*goose.Provider, error) {
	provider, err := goose.NewProvider(db.goose, on, db.migrations, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return provider, nil
}
