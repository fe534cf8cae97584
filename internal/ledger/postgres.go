package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/schema"
)

// connections bounds those of one instance to a database server.
const connections = 20

// firstLock and those after it are numbers that all instances know, and nobody else uses in this database.
const firstLock = 7_265_127_261

func openPostgres(ctx context.Context, url string) (database, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return database{}, errors.New("DATABASE_URL is not like postgres://USER:PASSWORD@HOST:5432/DATABASE")
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // nothing to prepare: also works through poolers
	migrations, err := fs.Sub(migrationFiles, "migrations/postgres")
	if err != nil {
		return database{}, fmt.Errorf("embedded migrations: %w", err)
	}
	db := stdlib.OpenDB(*config)
	if err := answering(ctx, db, "postgres", config.Host); err != nil {
		return database{}, err
	}
	return database{
		write: db, read: db,
		newDialect: func() schema.Dialect { return pgdialect.New() },
		migrations: migrations, goose: goose.DialectPostgres,
		transactions: &sql.TxOptions{Isolation: sql.LevelReadCommitted},
		gently:       fullStride, // its work is done elsewhere
		refuses:      postgresRefuses,
		lock: func(ctx context.Context, purpose lockPurpose) (func() error, error) {
			return lockBySession(ctx, db, fmt.Sprintf("SELECT pg_advisory_lock(%d)", firstLock+int(purpose)))
		},
	}, nil
}

// answerWithin bounds the wait for a database server when it is opened.
const answerWithin = 10 * time.Second

// answering gives a pool its bounds and asks the server for an answer; it closes the pool without one.
func answering(ctx context.Context, db *sql.DB, kind, host string) error {
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if err := db.PingContext(ctx); err != nil {
		return errors.Join(fmt.Errorf("%s at %s does not answer: %s", kind, host, oneLine(err)), db.Close())
	}
	return nil
}

// oneLine keeps what a driver says to one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// lockBySession takes a lock that belongs to a connection, and goes with it.
func lockBySession(ctx context.Context, db *sql.DB, statement string) (unlock func() error, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	unlock = func() error {
		_ = conn.Raw(func(any) error { return errSpent }) // closes the connection, and with it goes the lock
		if err := conn.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) {
			return err
		}
		return nil
	}
	if _, err := conn.ExecContext(ctx, statement); err != nil {
		return nil, errors.Join(fmt.Errorf("lock: %w", err), unlock())
	}
	return unlock, nil
}

func postgresRefuses(err error) bool {
	var fault *pgconn.PgError
	if !errors.As(err, &fault) {
		return false
	}
	const data, constraint = "22", "23" // classes of codes
	return strings.HasPrefix(fault.Code, data) || strings.HasPrefix(fault.Code, constraint)
}
