package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// lockPostgres takes the migration lock within one transaction, in which all migrations run too. So the lock is released in any
// case, and a pooler that has only one connection for this database is enough.
func lockPostgres(ctx context.Context, connector driver.Connector) (*migrationLock, error) {
	made, err := connector.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	conn, ok := made.(*stdlib.Conn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("lock: unexpected connection %T", made), made.Close())
	}
	tx, err := beginLocked(ctx, conn.Conn())
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	db := sql.OpenDB(&singleConnector{conn: transactionConn{conn}, driver: connector.Driver()})
	db.SetMaxOpenConns(1)
	return &migrationLock{db: db, run: func(ctx context.Context, migrations func(context.Context) error) error {
		err := migrations(ctx)
		if err == nil {
			err = tx.Commit(ctx)
		} else {
			endLock(ctx, tx.Rollback)
		}
		return errors.Join(err, db.Close(), conn.Close())
	}}, nil
}

// beginLocked begins a transaction that has the lock, or returns errLockHeld. It does not wait for the lock within the transaction,
// which would keep one of the pooler's connections from other clients.
func beginLocked(ctx context.Context, conn *pgx.Conn) (pgx.Tx, error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	var locked bool
	if err := tx.QueryRow(ctx, fmt.Sprintf("SELECT pg_try_advisory_xact_lock(%d)", migrationKey)).Scan(&locked); err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	if !locked {
		return nil, errors.Join(errLockHeld, tx.Rollback(ctx))
	}
	return tx, nil
}

// transactionConn is a connection within an open transaction. Transactions that are begun on it become part of that one: their
// COMMIT and ROLLBACK do nothing. So the caller must give up after the first error, as goose does.
type transactionConn struct{ *stdlib.Conn }

func (transactionConn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	return nestedTx{}, nil
}

func (transactionConn) ResetSession(context.Context) error { return nil }

type nestedTx struct{}

func (nestedTx) Commit() error   { return nil }
func (nestedTx) Rollback() error { return nil }

// singleConnector is a driver.Connector that gives a pool one connection and never a second one, which would be outside of the
// transaction.
type singleConnector struct {
	conn   driver.Conn
	driver driver.Driver
	given  atomic.Bool
}

func (c *singleConnector) Connect(context.Context) (driver.Conn, error) {
	if c.given.Swap(true) {
		return nil, errors.New("the connection of the migrations is lost")
	}
	return c.conn, nil
}

func (c *singleConnector) Driver() driver.Driver { return c.driver }
