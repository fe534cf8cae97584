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

// maxConnections bounds the connections of one instance to a database server.
const maxConnections = 20

// cancelDelay is how long a statement may go on after its context is done. Most statements end within that time, and their
// connection can be used again. Otherwise the statement has to be cancelled over a second connection, which crashes some PgBouncers.
const cancelDelay = 500 * time.Millisecond

// migrationKey is the key of the advisory lock for migrations: an arbitrary number that nothing else in this database uses.
const migrationKey = 7_265_127_265

func openPostgres(ctx context.Context, url string) (database, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return database{}, errors.New("DATABASE_URL is not like postgres://USER:PASSWORD@HOST:5432/DATABASE")
	}
	// This also works through connection poolers in transaction mode: no prepared statements, and nothing else that belongs to a
	// session either, such as settings, session locks, temporary tables or LISTEN.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.DeadlineContextWatcherHandler{Conn: conn.Conn(), DeadlineDelay: cancelDelay}
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	migrations, err := fs.Sub(migrationFiles, "migrations/postgres")
	if err != nil {
		return database{}, fmt.Errorf("embedded migrations: %w", err)
	}
	db := stdlib.OpenDB(*config)
	if err := pingPool(ctx, db, "postgres", config.Host); err != nil {
		return database{}, err
	}
	return database{
		write: db, read: db, maxIdleWriters: maxConnections,
		newDialect: func() schema.Dialect { return pgdialect.New() },
		migrations: migrations, goose: goose.DialectPostgres,
		transactions: &sql.TxOptions{Isolation: sql.LevelReadCommitted},
		pacing:       unpaced, // the database works in another process
		rejects:      postgresRejects,
		isDeadlock:   postgresIsDeadlock,
		now:          "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
		lockMigrations: func(ctx context.Context) (*migrationLock, error) {
			return lockPostgres(ctx, stdlib.GetConnector(*config))
		},
	}, nil
}

// pingTimeout bounds the wait for a database server when it is opened.
const pingTimeout = 10 * time.Second

// pingPool limits the connections of a pool and checks that the server answers; if it does not, it closes the pool.
func pingPool(ctx context.Context, db *sql.DB, kind, host string) error {
	db.SetMaxOpenConns(maxConnections)
	db.SetMaxIdleConns(maxConnections)
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
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

// oneLine joins the lines of a driver's error.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

func postgresRejects(err error) bool {
	var fault *pgconn.PgError
	if !errors.As(err, &fault) {
		return false
	}
	const data, constraint = "22", "23" // classes of codes
	return strings.HasPrefix(fault.Code, data) || strings.HasPrefix(fault.Code, constraint)
}

func postgresIsDeadlock(err error) bool {
	var fault *pgconn.PgError
	return errors.As(err, &fault) && (fault.Code == "40P01" || fault.Code == "40001") // deadlock, serialization failure
}
