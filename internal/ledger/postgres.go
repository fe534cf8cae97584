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
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/schema"
)

// connections bounds those of one instance to a database server.
const connections = 20

// finishWithin is how long a statement may go on whose context is done. It most often ends by itself, and the connection stays
// good; else it would have to be cancelled over another connection, which some PgBouncers do not survive.
const finishWithin = 500 * time.Millisecond

// migrationKey is a number of an advisory lock that all instances know, and nobody else uses in this database.
const migrationKey = 7_265_127_265

func openPostgres(ctx context.Context, url string) (database, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return database{}, errors.New("DATABASE_URL is not like postgres://USER:PASSWORD@HOST:5432/DATABASE")
	}
	// Works through poolers in transaction mode too: nothing is prepared, and nothing else is left with a session either, such as
	// settings, session locks, temporary tables or LISTEN.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.DeadlineContextWatcherHandler{Conn: conn.Conn(), DeadlineDelay: finishWithin}
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectWithin
	}
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
		deadlocked:   postgresDeadlocked,
		now:          "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
		lockMigrations: func(ctx context.Context) (*migrationLock, error) {
			return lockPostgres(ctx, stdlib.GetConnector(*config))
		},
	}, nil
}

// pingWithin bounds the wait for a database server when it is opened.
const pingWithin = 10 * time.Second

// answering gives a pool its bounds and asks the server for an answer; it closes the pool without one.
func answering(ctx context.Context, db *sql.DB, kind, host string) error {
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	ctx, cancel := context.WithTimeout(ctx, pingWithin)
	defer cancel()
	err := db.PingContext(ctx)
	if err == nil {
		return nil
	}
	problem := ErrUnreachable
	if refusedConnection(err) {
		problem = errors.New("refuses the connection")
	}
	return errors.Join(fmt.Errorf("%s at %s %w: %s", kind, host, problem, oneLine(err)), db.Close())
}

// oneLine keeps what a driver says to one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

func postgresRefuses(err error) bool {
	var fault *pgconn.PgError
	if !errors.As(err, &fault) {
		return false
	}
	const data, constraint = "22", "23" // classes of codes
	return strings.HasPrefix(fault.Code, data) || strings.HasPrefix(fault.Code, constraint)
}

func postgresDeadlocked(err error) bool {
	var fault *pgconn.PgError
	return errors.As(err, &fault) && (fault.Code == "40P01" || fault.Code == "40001") // deadlock, serialization failure
}
