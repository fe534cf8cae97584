package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// lockFile locks the file path+".lock", and waits until that is free or ctx is done. It keeps two instances from doing the same to
// one SQLite file at once. SQLite has no named locks, and a transaction on the file itself would shut out the migrations. So the
// lock is an exclusive transaction on another, empty database file. It works between processes on every system that SQLite runs
// on, and the system frees it when the process dies. The lock file stays and is never written to.
func lockFile(ctx context.Context, path string) (unlock func() error, err error) {
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

// lockSQLite takes the migration lock; it waits for it until ctx is done.
func lockSQLite(ctx context.Context, path string, db *sql.DB) (*migrationLock, error) {
	unlock, err := lockFile(ctx, path)
	if err != nil {
		return nil, err
	}
	return &migrationLock{db: db, run: func(ctx context.Context, migrations func(context.Context) error) error {
		return errors.Join(migrations(ctx), unlock())
	}}, nil
}
