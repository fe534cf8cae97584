package ledger

import (
	"context"
	"database/sql"
	"time"

	"github.com/uptrace/bun"
)

// WithTimeouts sets how long an instance waits for the migrations of others, and how long a lease lasts.
func WithTimeouts(migration, lease time.Duration) Option {
	return func(l *Ledger) { l.timeouts = timeouts{migration: migration, lease: newLeaseTimes(lease)} }
}

// LockFile lets tests hold what Migrate waits for.
var LockFile = lockFile

// MigrateTo brings the tables up or down to a version.
func MigrateTo(ctx context.Context, l *Ledger, version int64) error {
	provider, err := l.database.migrator(l.database.write)
	if err != nil {
		return err
	}
	if _, err = provider.UpTo(ctx, version); err == nil {
		_, err = provider.DownTo(ctx, version)
	}
	return err
}

// Pools are the connections of a ledger.
func Pools(l *Ledger) map[string]*sql.DB {
	return map[string]*sql.DB{"read": l.database.read, "write": l.database.write}
}

// BeforeEachStatement calls a function before each statement of a ledger's transactions.
func BeforeEachStatement(l *Ledger, call func(statement string)) {
	l.write = l.write.WithQueryHook(beforeHook(call))
}

type beforeHook func(statement string)

func (h beforeHook) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	h(event.Query)
	return ctx
}

func (beforeHook) AfterQuery(context.Context, *bun.QueryEvent) {}

// HoldMigrationLock takes the lock to migrate, once, and has it while work runs. ErrLockHeld: another instance has it.
func HoldMigrationLock(ctx context.Context, l *Ledger, work func()) error {
	lock, err := l.database.lockMigrations(ctx)
	if err != nil {
		return err
	}
	return lock.run(ctx, func(context.Context) error { work(); return nil })
}

// ErrLockHeld says that another instance holds the lock.
var ErrLockHeld = errLockHeld

// Watch shows a hook every statement that a ledger sends from now on. Call it before anything else uses the ledger.
func Watch(l *Ledger, hook bun.QueryHook) {
	l.read, l.write = l.read.WithQueryHook(hook), l.write.WithQueryHook(hook)
}
