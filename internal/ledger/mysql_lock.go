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

// holdEvery is how often the transaction that holds the lock is used, so that nothing takes it for idle.
const holdEvery = 5 * time.Second

// Numbers of errors.
const (
	mysqlNoTable    = 1146
	mysqlLockWait   = 1205 // MariaDB's answer to NOWAIT
	mysqlLockNowait = 3572 // MySQL's
)

// lockMySQL takes the lock to migrate: a row that a transaction has locked while migrations run on other connections. In these
// databases a migration cannot be part of that transaction, as each change of a table commits. Nothing else needs a second
// connection; the table is not made by a migration, for it must be there before them.
func lockMySQL(ctx context.Context, config *mysql.Config) (*migrationLock, error) {
	patient := config.Clone()
	patient.ReadTimeout = 0 // a change of a large table is silent for long
	connector, err := mysql.NewConnector(patient)
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
	return &migrationLock{db: db, during: func(ctx context.Context, migrations func(context.Context) error) error {
		err := whileHolding(ctx, conn, migrations)
		return errors.Join(err, conn.Close(), db.Close()) // closing rolls back, and frees the row
	}}, nil
}

func lockRow(ctx context.Context, conn *sql.Conn) error {
	err := haveLockRow(ctx, conn)
	if err == nil {
		_, err = conn.ExecContext(ctx, "START TRANSACTION")
	}
	if err == nil {
		var id int
		err = conn.QueryRowContext(ctx, "SELECT id FROM migration_lock WHERE id = 1 FOR UPDATE NOWAIT").Scan(&id)
	}
	var fault *mysql.MySQLError
	if errors.As(err, &fault) && (fault.Number == mysqlLockWait || fault.Number == mysqlLockNowait) {
		return errTaken
	}
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	return nil
}

func haveLockRow(ctx context.Context, conn *sql.Conn) error {
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

// whileHolding runs the migrations, and ends their context should the transaction with the lock be lost.
func whileHolding(ctx context.Context, conn *sql.Conn, migrations func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var holding sync.WaitGroup
	holding.Go(func() {
		for backoff.Sleep(ctx, holdEvery, nil) {
			try, done := context.WithTimeout(ctx, holdEvery)
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
