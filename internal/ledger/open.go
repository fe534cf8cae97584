package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"redrain/internal/game"
)

// Ledger is an open database. All methods are safe for concurrent use, also by several processes on one database.
type Ledger struct {
	database database
	write    *bun.DB // every change goes through here, in a transaction where it has more than one statement
	read     *bun.DB // single SELECTs outside of transactions
	now      func() time.Time
	newCode  func() string
	payouts  int // claims in one payout; 0: none are made
	log      *slog.Logger
	timeouts timeouts
	lease    atomic.Pointer[exclusiveLease] // nil unless this instance has called LockExclusively on a database server
}

// database is what one kind of database brings along.
type database struct {
	write, read *sql.DB // may be the same
	// maxIdleWriters is how many idle connections the pool write keeps.
	maxIdleWriters int
	newDialect     func() schema.Dialect
	migrations     fs.FS // one folder of goose's files
	goose          goose.Dialect
	// transactions are the options of all transactions; nil means the driver's defaults.
	transactions *sql.TxOptions
	// pacing is that of BookPaced: unpaced unless the database works within this process.
	pacing batchPacing
	// rejects reports that the database rejected the values in a statement, so that trying it again is of no use.
	rejects func(error) bool
	// isDeadlock reports that the database rolled a transaction back to break a deadlock.
	isDeadlock func(error) bool
	// lockMigrations takes the migration lock. If another instance has it, it returns errLockHeld at once, or waits until ctx is done.
	lockMigrations func(context.Context) (*migrationLock, error)
	// lockExclusively waits for a lock that the system frees when the process dies; nil where there is none and a lease is used.
	lockExclusively func(context.Context) (unlock func() error, err error)
	// now is SQL for the database's clock, in ms since 1970; empty where no lease is used.
	now string
}

// Option changes how a ledger is opened.
type Option func(*Ledger)

// WithClock sets the clock that stamps rows (when a room was made, a player joined); it is time.Now by default.
func WithClock(now func() time.Time) Option { return func(l *Ledger) { l.now = now } }

// WithCodes sets what makes the join codes of rooms; it is game.NewCode by default.
func WithCodes(newCode func() string) Option { return func(l *Ledger) { l.newCode = newCode } }

// WithLog sets where an instance logs what it waits for; nowhere by default.
func WithLog(log *slog.Logger) Option { return func(l *Ledger) { l.log = log } }

// Open opens the database at a DATABASE_URL and proves that it answers; it makes a missing SQLite file. The caller must
// Migrate before anything else, and Close. Errors never show the URL: it may hold a password.
func Open(ctx context.Context, url string, options ...Option) (*Ledger, error) {
	l := &Ledger{
		now: time.Now, newCode: game.NewCode, log: slog.New(slog.DiscardHandler),
		timeouts: timeouts{migration: migrationLockTimeout, lease: newLeaseTimes(leaseDuration)},
	}
	for _, option := range options {
		option(l)
	}
	db, err := l.openDatabase(ctx, url)
	if err != nil {
		return nil, err
	}
	l.database = db
	l.write = bun.NewDB(db.write, db.newDialect()).WithQueryHook(queryHook{ledger: l, writes: true})
	l.read = bun.NewDB(db.read, db.newDialect()).WithQueryHook(queryHook{ledger: l})
	return l, nil
}

// WithPayouts plans payouts of up to size claims each for every round that is settled from now on; else there are none.
func WithPayouts(size int) Option { return func(l *Ledger) { l.payouts = size } }

// openDatabase waits as long as for a migration of another instance, which can be what delays the opening: it locks a SQLite file,
// and it may use the only connection of a connection pooler.
func (l *Ledger) openDatabase(ctx context.Context, url string) (database, error) {
	within := l.timeouts.migration
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("no answer for %v, another instance may be migrating it", within))
	defer cancel()
	defer l.logWhileWaiting("waiting for the database to answer", "at_most", within)()
	db, err := openByScheme(ctx, url)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return db, err
}

func openByScheme(ctx context.Context, url string) (database, error) {
	scheme, rest, found := strings.Cut(url, ":")
	switch {
	case found && scheme == "sqlite":
		return openSQLite(ctx, rest)
	case found && (scheme == "postgres" || scheme == "postgresql"):
		return openPostgres(ctx, url)
	case found && (scheme == "mysql" || scheme == "mariadb"):
		return openMySQL(ctx, url)
	}
	return database{}, errors.New("DATABASE_URL must begin with sqlite:, postgres:// or mysql://")
}

// Pools returns the connection pools by what they are for, for their statistics only.
func (l *Ledger) Pools() map[string]*sql.DB {
	if l.database.read == l.database.write {
		return map[string]*sql.DB{"all": l.database.write}
	}
	return map[string]*sql.DB{"read": l.database.read, "write": l.database.write}
}

// Close waits for running statements and gives up all connections. Closing twice is fine.
func (l *Ledger) Close() error {
	if l.database.read == l.database.write {
		return l.database.write.Close()
	}
	return errors.Join(l.database.read.Close(), l.database.write.Close())
}
