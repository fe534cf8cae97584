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

// lockPostgres takes the lock to migrate for one transaction, in which all migrations run: the lock can be left with nobody, and
// a pooler that has only one connection for this database is enough.
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
	db := sql.OpenDB(&onlyConnection{conn: transactionConn{conn}, driver: connector.Driver()})
	db.SetMaxOpenConns(1)
	return &migrationLock{db: db, during: func(ctx context.Context, migrations func(context.Context) error) error {
		err := migrations(ctx)
		if err == nil {
			err = tx.Commit(ctx)
		} // else closing the connection rolls back
		return errors.Join(err, db.Close(), conn.Close())
	}}, nil
}

// beginLocked tries, and does not wait in the transaction: that would keep one of the pooler's connections from others.
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
		return nil, errors.Join(errTaken, tx.Rollback(ctx))
	}
	return tx, nil
}

// transactionConn is a connection within a transaction. Transactions that are begun on it are part of that one, and it is used
// again as it is. Whoever begins them must give up after the first error, as goose does.
type transactionConn struct{ *stdlib.Conn }

func (transactionConn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	return partOfTransaction{}, nil
}

func (transactionConn) ResetSession(context.Context) error { return nil }

type partOfTransaction struct{}

func (partOfTransaction) Commit() error   { return nil }
func (partOfTransaction) Rollback() error { return nil }

// onlyConnection gives a pool one connection and never another, which would be outside of its transaction.
type onlyConnection struct {
	conn   driver.Conn
	driver driver.Driver
	given  atomic.Bool
}

func (c *onlyConnection) Connect(context.Context) (driver.Conn, error) {
	if c.given.Swap(true) {
		return nil, errors.New("the connection of the migrations is lost")
	}
	return c.conn, nil
}

func (c *onlyConnection) Driver() driver.Driver { return c.driver }
