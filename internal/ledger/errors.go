package ledger

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"redrain/internal/game"
	"redrain/internal/probe"
)

// refusedConnection reports that the server answered and refused the connection, so that DATABASE_URL must be wrong.
func refusedConnection(err error) bool {
	_, postgres := errors.AsType[*pgconn.PgError](err)
	_, maria := errors.AsType[*mysql.MySQLError](err)
	return (postgres || maria) && ReasonOf(err) != probe.Unreachable
}

// errRowChanged says that a row changed although this transaction had locked it, or that it is gone. The transaction is rolled back.
var errRowChanged = errors.New("the row is no longer as it was read")

// mapNoRows turns sql.ErrNoRows into game.ErrNotFound.
func mapNoRows(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return game.ErrNotFound
	}
	return err
}

// wrapError says what could not be done; nil stays nil.
func wrapError(err error, doing string) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// markRefused wraps an error in game.ErrRefused if the database rejected the values of a statement.
func (l *Ledger) markRefused(err error) error {
	if err != nil && l.database.rejects(err) {
		return fmt.Errorf("%w: %w", game.ErrRefused, err)
	}
	return err
}
