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
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"redrain/internal/probe"
)

// ErrUnreachable says that the database does not answer; it may later. An answer that refuses something is another error.
var ErrUnreachable = errors.New("does not answer")

// ReasonOf returns why a statement failed, as far as it says something about the database and not about the statement; else
// probe.Other. If it is probe.Unreachable, it is not known whether the statement was carried out.
func ReasonOf(err error) probe.Reason {
	if fault, ok := errors.AsType[*sqlite.Error](err); ok {
		return sqliteReason(fault.Code())
	}
	if fault, ok := errors.AsType[*pgconn.PgError](err); ok {
		return postgresReason(fault.Code)
	}
	if fault, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return mysqlReason(fault)
	}
	if isDisconnection(err) {
		return probe.Unreachable
	}
	return probe.Other
}

// isDisconnection reports that there was no connection, or none any more, or no answer in time.
func isDisconnection(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	broken := []error{ErrUnreachable, driver.ErrBadConn, mysql.ErrInvalidConn, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF}
	return slices.ContainsFunc(broken, func(known error) bool { return errors.Is(err, known) })
}

// sqliteReason is the reason of an extended result code. SQLite reports as full only what the system does; a write beyond a quota or a
// limit on the size of files, and one beyond the end of the disk in the index of the WAL, are I/O errors.
func sqliteReason(code int) probe.Reason {
	switch code {
	case sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE:
		return probe.Full
	}
	switch code & 0xff {
	case sqlite3.SQLITE_FULL:
		return probe.Full
	case sqlite3.SQLITE_READONLY:
		return probe.ReadOnly
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return probe.Locked
	case sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return probe.NoRights
	}
	return probe.Other
}

// postgresReasons has error codes, and classes of them, which are the first two characters.
var postgresReasons = map[string]probe.Reason{
	"08":    probe.Unreachable, // broken connections, also a pooler's
	"57P01": probe.Unreachable, // the server stops,
	"57P02": probe.Unreachable, // has crashed,
	"57P03": probe.Unreachable, // is starting
	"53300": probe.Unreachable, // too many connections
	"57014": probe.Unreachable, // a statement was cancelled, for it took too long
	"53100": probe.Full,
	"25006": probe.ReadOnly,
	"55P03": probe.Locked,
	"42501": probe.NoRights,
	"28":    probe.NoRights, // the login is refused
}

func postgresReason(code string) probe.Reason {
	if reason, ok := postgresReasons[code]; ok {
		return reason
	}
	if reason, ok := postgresReasons[code[:min(2, len(code))]]; ok {
		return reason
	}
	return probe.Other
}

// mysqlReasons has error numbers of MySQL and MariaDB.
var mysqlReasons = map[uint16]probe.Reason{
	1040: probe.Unreachable, 1203: probe.Unreachable, // too many connections, of all and of this user
	1053: probe.Unreachable, 1927: probe.Unreachable, // the server stops, has ended the connection
	1021: probe.Full, 1114: probe.Full, // no space, on the disk or for the table
	1290: probe.ReadOnly, 1792: probe.ReadOnly, 1836: probe.ReadOnly, // an option or a mode forbids writes, or the transaction is read-only
	1205: probe.Locked, 1099: probe.Locked, 1223: probe.Locked, // a row or a table
	1044: probe.NoRights, 1045: probe.NoRights, 1142: probe.NoRights, 1143: probe.NoRights, 1227: probe.NoRights,
}

// mysqlReason also knows a full disk by the system's words for it, which errors of several numbers end with.
func mysqlReason(fault *mysql.MySQLError) probe.Reason {
	if reason, ok := mysqlReasons[fault.Number]; ok {
		return reason
	}
	if strings.Contains(fault.Message, "No space left on device") || strings.Contains(fault.Message, "Disk quota exceeded") {
		return probe.Full
	}
	return probe.Other
}
