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
	// migrateWait is how long an instance waits while others migrate.
	migrateWait = 2 * time.Minute
	// migrateWithin bounds the migrations themselves, which may rewrite large tables.
	migrateWithin = 2 * time.Hour
	// lockEvery is how often a lock that another instance holds is tried.
	lockEvery = 200 * time.Millisecond
)

// errTaken says that another instance holds a lock now.
var errTaken = errors.New("another instance holds the lock")

// migrationLock lets one instance at a time migrate. It is no lock of a session: behind a pooler in transaction mode that would
// stay with a connection which serves others next.
type migrationLock struct {
	db *sql.DB // what the migrations must run on
	// during runs the migrations, with a context that ends should the lock be lost, keeps what they did if they return no
	// error, and gives the lock back. It must be called once.
	during func(ctx context.Context, migrations func(context.Context) error) error
}

// Migrate brings the tables to the newest version, or leaves them if they are. Instances that start at once do it one
// after the other; one that waits says so in its log, and gives up after 2 minutes. On PostgreSQL all that is pending is one
// transaction, elsewhere each migration is one of its own.
func (l *Ledger) Migrate(ctx context.Context) error {
	lock, err := l.awaitMigrationLock(ctx)
	if err != nil {
		return fmt.Errorf("migrate database: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, migrateWithin)
	defer cancel()
	err = lock.during(ctx, func(ctx context.Context) error {
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
	within := l.waits.migration
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("another instance has been migrating it for %v", within))
	defer cancel()
	defer l.sayWhileWaiting("waiting for another instance that migrates the database", "at_most", within)()
	for {
		lock, err := l.database.lockMigrations(ctx)
		switch {
		case err == nil:
			return lock, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !errors.Is(err, errTaken):
			return nil, err
		}
		backoff.Sleep(ctx, lockEvery, nil)
	}
}

func (db database) migrator(on *sql.DB) (*goose.Provider, error) {
	provider, err := goose.NewProvider(db.goose, on, db.migrations, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return provider, nil
}
