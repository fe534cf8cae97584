package api

import (
	"encoding/csv"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
)

// byteOrderMark makes Excel read what follows as UTF-8.
const byteOrderMark = "\uFEFF"

// rowsWithin is how long a client may take to receive what one page of rows makes; a slow one only has to go on.
const rowsWithin = 30 * time.Second

// table writes a CSV file by RFC 4180 to a client while its rows are still being read: it holds no more than a few KB of it.
type table struct {
	c      echo.Context
	writer *csv.Writer
	limits *http.ResponseController
}

// newTable begins a file; from then on there is no other answer.
func newTable(c echo.Context, name string, columns ...string) (*table, error) {
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, "text/csv; charset=utf-8")
	header.Set(echo.HeaderContentDisposition, `attachment; filename="`+name+`"`)
	header.Set(echo.HeaderCacheControl, "no-store")
	t := &table{c: c, writer: csv.NewWriter(c.Response()), limits: http.NewResponseController(c.Response().Writer)}
	t.writer.UseCRLF = true
	if err := t.more(); err != nil {
		return nil, err
	}
	c.Response().WriteHeader(http.StatusOK)
	if _, err := c.Response().Write([]byte(byteOrderMark)); err != nil {
		return nil, err
	}
	return t, t.row(columns...)
}

// more gives the client time for another page of rows.
func (t *table) more() error {
	err := t.limits.SetWriteDeadline(time.Now().Add(rowsWithin))
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

func (t *table) row(cells ...string) error { return t.writer.Write(cells) }

func (t *table) end() error {
	t.writer.Flush()
	return t.writer.Error()
}

// broken cuts the connection: a file that ends too early must not look complete.
func (s *Server) broken(c echo.Context, err error) {
	s.Logger.Error("file not completed", "path", c.Request().URL.Path, "error", err)
	panic(http.ErrAbortHandler)
}

// plainText defuses what people typed. Spreadsheets take a cell that begins like a formula for one, and would run it with the
// host's rights; they also take the wide forms of these signs, and skip spaces before them. An apostrophe makes it text.
func plainText(cell string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(cell, " \u00a0\u3000"))
	if strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + cell
	}
	return cell
}

// moment is like 2026-12-31T20:15:03.123Z.
func moment(at game.Moment) string {
	return time.UnixMilli(int64(at)).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}
