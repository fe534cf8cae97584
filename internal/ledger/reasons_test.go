package ledger

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	sqlite3 "modernc.org/sqlite/lib"

	"redrain/internal/game"
	"redrain/internal/probe"
)

func TestErrorsOfDatabasesHaveReasons(t *testing.T) {
	postgres := func(code string) error { return &pgconn.PgError{Code: code} }
	maria := func(number uint16, message string) error {
		return &mysql.MySQLError{Number: number, Message: message}
	}
	for reason, errs := range map[probe.Reason][]error{
		probe.Unreachable: {
			postgres("53300"), postgres("57P01"), postgres("57P03"), postgres("08006"), postgres("57014"),
			maria(1040, ""), maria(1053, ""), mysql.ErrInvalidConn, driver.ErrBadConn, context.DeadlineExceeded,
			&net.OpError{Op: "dial", Err: errors.New("connection refused")}, io.ErrUnexpectedEOF, ErrUnreachable,
		},
		probe.Full: {
			postgres("53100"), maria(1021, ""), maria(1114, ""),
			maria(3, `Error writing file '/tmp/MLfd=12' (Errcode: 28 "No space left on device")`),
			maria(1030, `Got error 28 "No space left on device" from storage engine InnoDB`),
			maria(1026, `Error writing file './redrain/players.MYD' (errno: 122 "Disk quota exceeded")`),
		},
		probe.ReadOnly: {postgres("25006"), maria(1290, ""), maria(1792, ""), maria(1836, "")},
		probe.Locked:   {postgres("55P03"), maria(1205, ""), maria(1223, "")},
		probe.NoRights: {postgres("42501"), postgres("28P01"), maria(1045, ""), maria(1142, ""), maria(1227, "")},
		probe.Other: {
			nil, postgres("40P01"), postgres("23505"), postgres(""), maria(1062, ""), maria(1030, "Got error 5 from storage engine"),
			game.ErrNotFound, errRowChanged, context.Canceled,
		},
	} {
		for _, err := range errs {
			if wrapped := fmt.Errorf("begin a round: %w", err); ReasonOf(wrapped) != reason {
				t.Errorf("%v: %s, want %s", wrapped, ReasonOf(wrapped), reason)
			}
		}
	}
}

func TestResultCodesOfSQLiteHaveReasons(t *testing.T) {
	for code, reason := range map[int]probe.Reason{
		sqlite3.SQLITE_FULL: probe.Full, sqlite3.SQLITE_IOERR_WRITE: probe.Full, sqlite3.SQLITE_IOERR_SHMSIZE: probe.Full,
		sqlite3.SQLITE_READONLY: probe.ReadOnly, sqlite3.SQLITE_READONLY_DBMOVED: probe.ReadOnly,
		sqlite3.SQLITE_BUSY: probe.Locked, sqlite3.SQLITE_BUSY_SNAPSHOT: probe.Locked, sqlite3.SQLITE_LOCKED: probe.Locked,
		sqlite3.SQLITE_PERM: probe.NoRights, sqlite3.SQLITE_IOERR_READ: probe.Other, sqlite3.SQLITE_CORRUPT: probe.Other,
		sqlite3.SQLITE_CONSTRAINT_UNIQUE: probe.Other,
	} {
		if got := sqliteReason(code); got != reason {
			t.Errorf("%d: %s, want %s", code, got, reason)
		}
	}
}
