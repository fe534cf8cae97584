package ledger

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"redrain/internal/game"
)

// ErrUnreachable says that the database does not answer; it may later. An answer that refuses something is another error.
var ErrUnreachable = errors.New("does not answer")

// postgresConnectionClass is the prefix of the error codes of PostgreSQL, and of poolers before it, for broken connections.
const postgresConnectionClass = "08"

// Error codes with which a database server turns every client away for a while: it starts, stops, or has no connection left.
var (
	postgresUnavailable = []string{
		"57P01", "57P02", "57P03", // stops, has crashed, is starting
		"53300", // too many connections
	}
	mysqlUnavailable = []uint16{
		1040, 1203, // too many connections, of all and of this user
		1053, 1927, // stops, has ended the connection
	}
)

// Unreachable reports that a statement failed because the database could not be reached, or turned every client away for a while.
// The same statement may succeed a moment later. It is not known whether this one was carried out.
func Unreachable(err error) bool {
	if fault, ok := errors.AsType[*pgconn.PgError](err); ok {
		return slices.Contains(postgresUnavailable, fault.Code) || strings.HasPrefix(fault.Code, postgresConnectionClass)
	}
	if fault, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return slices.Contains(mysqlUnavailable, fault.Number)
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	broken := []error{ErrUnreachable, driver.ErrBadConn, mysql.ErrInvalidConn, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF}
	return slices.ContainsFunc(broken, func(known error) bool { return errors.Is(err, known) })
}

// refusedConnection reports that the server answered and refused the connection, so that DATABASE_URL must be wrong.
func refusedConnection(err error) bool {
	_, postgres := errors.AsType[*pgconn.PgError](err)
	_, maria := errors.AsType[*mysql.MySQLError](err)
	return (postgres || maria) && !Unreachable(err)
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
