package ledger

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"redrain/internal/game"
)

func TestADatabaseThatTurnsAllClientsAwayIsUnreachable(t *testing.T) {
	for _, err := range []error{
		&pgconn.PgError{Code: "53300"}, &pgconn.PgError{Code: "57P01"}, &pgconn.PgError{Code: "57P03"}, &pgconn.PgError{Code: "08006"},
		&mysql.MySQLError{Number: 1040}, &mysql.MySQLError{Number: 1053}, mysql.ErrInvalidConn, driver.ErrBadConn,
		&net.OpError{Op: "dial", Err: errors.New("connection refused")}, io.ErrUnexpectedEOF, ErrUnreachable,
	} {
		if wrapped := fmt.Errorf("begin a round: %w", err); !Unreachable(wrapped) {
			t.Errorf("%v is not unreachable", wrapped)
		}
	}
	for _, err := range []error{
		nil, &pgconn.PgError{Code: "28P01"}, &pgconn.PgError{Code: "40P01"}, &pgconn.PgError{Code: "23505"}, &mysql.MySQLError{Number: 1045},
		&mysql.MySQLError{Number: 1062}, game.ErrNotFound, errRowChanged,
	} {
		if Unreachable(err) {
			t.Errorf("%v is unreachable", err)
		}
	}
}
