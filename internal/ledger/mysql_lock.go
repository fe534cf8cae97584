package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"redrain/internal/backoff"
)

// lockKeepAlive is how often the transaction that holds the lock sends a statement, so that neither the server nor a proxy closes it
// as idle.
const lockKeepAlive = 5 * time.Second

// Numbers of errors.
const (
	mysqlNoTable    = 1146
	mysqlLockWait   = 1205 // MariaDB's answer to NOWAIT
	mysqlLockNowait = 3572 // MySQL's
)

// lockMySQL takes the migration lock: a row that one transaction keeps locked while the migrations run on other connections. They
// cannot be part of that transaction, since in MySQL and MariaDB each change of a table commits. The table of the row is not made
// by a migration, since it must exist before them.
func lockMySQL(ctx context.Context, config *mysql.Config) (*migrationLock, error) {
	noTimeout := config.Clone()
	noTimeout.ReadTimeout = 0 // the server sends nothing while it changes a large table
	connector, err := mysql.NewConnector(noTimeout)
	if err != nil {
		return nil, errMySQLURL
	}
	db := sql.OpenDB(connector)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock: %w", err), db.Close())
	}
	if err := lockRow(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close(), db.Close())
	}
	return &migrationLock{db: db, run: func(ctx context.Context, migrations func(context.Context) error) error {
		err := runHoldingLock(ctx, conn, migrations)
		endLock(ctx, func(ctx context.Context) error { _, err := conn.ExecContext(ctx, "ROLLBACK"); return err })
		return errors.Join(err, conn.Close(), db.Close())
	}}, nil
}

func lockRow(ctx context.Context, conn *sql.Conn) error {
	err := ensureLockRow(ctx, conn)
	if err == nil {
		_, err = conn.ExecContext(ctx, "START TRANSACTION")
	}
	if err == nil {
		var id int
		err = conn.QueryRowContext(ctx, "SELECT id FROM migration_lock WHERE id = 1 FOR UPDATE NOWAIT").Scan(&id)
	}
	var fault *mysql.MySQLError
	if errors.As(err, &fault) && (fault.Number == mysqlLockWait || fault.Number == mysqlLockNowait) {
		return errLockHeld
	}
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	return nil
}

// ensureLockRow creates the table and the row that are locked, if they do not exist.
func ensureLockRow(ctx context.Context, conn *sql.Conn) error {
	var rows int
	err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM migration_lock").Scan(&rows)
	var fault *mysql.MySQLError
	if errors.As(err, &fault) && fault.Number == mysqlNoTable {
		_, err = conn.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS migration_lock (id TINYINT NOT NULL PRIMARY KEY) ENGINE = InnoDB")
	}
	if err == nil && rows == 0 {
		_, err = conn.ExecContext(ctx, "INSERT IGNORE INTO migration_lock VALUES (1)")
	}
	return err
}

// runHoldingLock runs the migrations, and ends their context if the connection of the transaction with the lock breaks.
func runHoldingLock(ctx context.Context, conn *sql.Conn, migrations func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var holding sync.WaitGroup
	holding.Go(func() {
		for backoff.Sleep(ctx, lockKeepAlive, nil) {
			try, done := context.WithTimeout(ctx, lockKeepAlive)
			_, err := conn.ExecContext(try, "DO 0")
			done()
			if err != nil && ctx.Err() == nil {
				cancel(fmt.Errorf("the lock is lost: %w", err))
			}
		}
	})
	err := migrations(ctx)
	if ctx.Err() != nil {
		err = errors.Join(err, context.Cause(ctx))
	}
	cancel(nil)
	holding.Wait()
	return err
}
