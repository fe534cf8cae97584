package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/schema"
	"modernc.org/sqlite" // also the database/sql driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// sqliteReaders is how many SELECTs can run at the same time, besides the writer.
const sqliteReaders = 4

// openSQLite opens the file at path with two pools. SQLite allows one writer at a time, so the pool for changes has one connection.
// A transaction on it takes the write lock when it begins, so that no two of them, in this process or another, can deadlock. In
// WAL mode readers never wait for the writer.
func openSQLite(ctx context.Context, path string) (database, error) {
	path, err := cleanSQLitePath(path)
	if err != nil {
		return database{}, err
	}
	migrations, err := fs.Sub(migrationFiles, "migrations/sqlite")
	if err != nil {
		return database{}, fmt.Errorf("embedded migrations: %w", err)
	}
	write, err := openSQLiteWriter(ctx, path)
	if err != nil {
		return database{}, fmt.Errorf("open sqlite file %s: %w", path, err)
	}
	read, err := sql.Open("sqlite", sqliteDSN(path, url.Values{"_query_only": {"1"}}))
	if err != nil {
		return database{}, errors.Join(fmt.Errorf("open sqlite file %s: %w", path, err), write.Close())
	}
	read.SetMaxOpenConns(sqliteReaders)
	read.SetMaxIdleConns(sqliteReaders)
	return database{
		write: write, read: read, maxIdleWriters: 1,
		newDialect: func() schema.Dialect { return sqlitedialect.New() },
		migrations: migrations, goose: goose.DialectSQLite3,
		// 32 rows are a quarter of a millisecond of work. Without pauses a transaction of some hundreds of claims would keep a core
		// busy for 5 ms, see batchPacing.
		pacing:          batchPacing{size: 32, pause: time.Millisecond},
		rejects:         sqliteRejects,
		isDeadlock:      func(error) bool { return false }, // one transaction at a time holds the file
		lockMigrations:  func(ctx context.Context) (*migrationLock, error) { return lockSQLite(ctx, path, write) },
		lockExclusively: func(ctx context.Context) (func() error, error) { return lockFile(ctx, path+".alone") },
	}, nil
}

func cleanSQLitePath(path string) (string, error) {
	if rooted, ok := strings.CutPrefix(path, "///"); ok {
		path = "/" + rooted
	}
	switch {
	case path == "" || strings.HasPrefix(path, "//"):
		return "", errors.New("DATABASE_URL must be sqlite:PATH, for example sqlite:redrain.db")
	case strings.HasPrefix(path, ":memory:"):
		return "", errors.New("DATABASE_URL must name a file: a database in memory would be another one for each connection")
	}
	return path, nil
}

// sqliteDSN is the driver's name for the file. FULL makes a commit survive a loss of power, which money needs.
func sqliteDSN(path string, more url.Values) string {
	params := url.Values{
		"_busy_timeout": {"10000"}, // ms that a statement waits for another process' transaction
		"_journal_mode": {"WAL"},
		"_synchronous":  {"FULL"},
		"_foreign_keys": {"1"},
		"_dqs":          {"0"}, // a misspelt column is an error, not a text
	}
	for key, values := range more {
		params[key] = values
	}
	return sqliteURI(path) + "?" + params.Encode()
}

// sqliteURI escapes what would end the path within a URI.
func sqliteURI(path string) string {
	return "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}

// openSQLiteWriter opens the pool for changes and its connection, which creates the file. The cache of 64 MiB holds the index of a
// million claims. temp_store(memory) keeps in memory what a statement of many rows needs for its own rollback: written to a
// temporary file it was a quarter of the work of booking. The lock is there because the first connection switches the file to WAL
// mode, and SQLite refuses that at once, without waiting, while another connection does the same.
func openSQLiteWriter(ctx context.Context, path string) (_ *sql.DB, err error) {
	write, err := sql.Open("sqlite", sqliteDSN(path, url.Values{
		"_txlock": {"immediate"}, "_pragma": {"cache_size(-65536)", "wal_autocheckpoint(8000)", "temp_store(memory)"},
	}))
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	write.SetMaxIdleConns(1)
	defer func() {
		if err != nil {
			err = errors.Join(err, write.Close())
		}
	}()
	unlock, err := lockFile(ctx, path)
	if err != nil {
		return nil, err
	}
	return write, errors.Join(write.PingContext(ctx), unlock())
}

func sqliteRejects(err error) bool {
	var fault *sqlite.Error
	if !errors.As(err, &fault) {
		return false
	}
	primary := fault.Code() & 0xff // the rest says which constraint
	return primary == sqlite3.SQLITE_CONSTRAINT || primary == sqlite3.SQLITE_MISMATCH || primary == sqlite3.SQLITE_TOOBIG
}
