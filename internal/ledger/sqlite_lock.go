package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// lockBeside keeps instances from doing something to one SQLite file at the same time; it waits until the lock is free or
// ctx is done. SQLite has no named locks, and a transaction on the file itself would shut out the migrations. So the lock is an
// exclusive transaction on an empty database file beside it: it holds between processes on every system that SQLite runs
// on, and the system gives it up when its process dies, so none is ever left behind. The file stays; nothing is written.
func lockBeside(ctx context.Context, path string) (unlock func() error, err error) {
	path += ".lock"
	db, err := sql.Open("sqlite", sqliteURI(path)+"?_busy_timeout=2147483647")
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "BEGIN EXCLUSIVE"); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), db.Close())
	}
	return db.Close, nil // closing rolls back, and frees the file's lock
}

// lockSQLite waits for the lock until ctx is done.
func lockSQLite(ctx context.Context, path string, db *sql.DB) (*migrationLock, error) {
	unlock, err := lockBeside(ctx, path)
	if err != nil {
		return nil, err
	}
	return &migrationLock{db: db, during: func(ctx context.Context, migrations func(context.Context) error) error {
		return errors.Join(migrations(ctx), unlock())
	}}, nil
}
