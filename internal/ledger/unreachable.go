package ledger

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrUnreachable says that the database does not answer. It may later; what it refuses by itself is no such error.
var ErrUnreachable = errors.New("does not answer")

// connectionFaults begins the codes of PostgreSQL, and of poolers in front of it, that say that a connection broke.
const connectionFaults = "08"

// The codes with which a database server turns everybody away for a while: it starts, stops, or has no connection left.
var (
	postgresAway = []string{
		"57P01", "57P02", "57P03", // stops, has crashed, is starting
		"53300", // too many connections
	}
	mysqlAway = []uint16{
		1040, 1203, // too many connections, of all and of this user
		1053, 1927, // stops, has ended the connection
	}
)

// Unreachable reports that a statement failed since the database could not be reached, or turned everybody away for a while. The
// same statement may succeed a moment later; whether this one was carried out is not known.
func Unreachable(err error) bool {
	if fault, ok := errors.AsType[*pgconn.PgError](err); ok {
		return slices.Contains(postgresAway, fault.Code) || strings.HasPrefix(fault.Code, connectionFaults)
	}
	if fault, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return slices.Contains(mysqlAway, fault.Number)
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

// refusedConnection reports that the server itself said no, for what DATABASE_URL says.
func refusedConnection(err error) bool {
	_, postgres := errors.AsType[*pgconn.PgError](err)
	_, maria := errors.AsType[*mysql.MySQLError](err)
	return (postgres || maria) && !Unreachable(err)
}
