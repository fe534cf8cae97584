package api

import (
	"context"
	"encoding/csv"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
)

// Exports reads books and statements for hosts from the ledger. Claims that are not booked yet are not included.
type Exports interface {
	// BookedClaims returns up to limit claims with a number above after, in the order of their numbers.
	BookedClaims(ctx context.Context, round string, after, limit int) ([]game.BookedClaim, error)
	// RoomBooks returns up to limit rounds of a room, the last begun first: those after one, or from the start if after is
	// empty; no rehearsals. game.ErrNotFound: the room has none with this id.
	RoomBooks(ctx context.Context, room, after string, limit int) ([]game.RoundBooks, error)
	// RoomSum returns the sums of the books of all rounds that RoomBooks lists.
	RoomSum(ctx context.Context, room string) (game.RoomSum, error)
	// Statement passes every movement of the account of a room's host to yield, in batches, the oldest first. It returns the first
	// error of yield.
	Statement(ctx context.Context, room string, yield func([]game.StatementLine) error) error
	// HostBalance returns the balance of that account; below 0 is what the host owes.
	HostBalance(ctx context.Context, room string) (game.Cents, error)
}

// routeExports adds the routes of books and CSV files. A file is streamed, and has no timeout for the whole request.
func (s *Server) routeExports(host addRoute) {
	s.echo.Add(http.MethodGet, "/api/rounds/:id/claims.csv", s.hostOnly(s.exportClaims), s.refuseForeignOrigins)
	s.echo.Add(http.MethodGet, "/api/rooms/:code/statement.csv", s.hostOnly(s.exportStatement), s.refuseForeignOrigins)
	host("GET", "/rooms/:code/books", s.showRoomBooks)
	host("GET", "/rooms/:code/statement", s.showStatement)
}

// claimsPerRead is how many claims are read at a time for a CSV file.
const claimsPerRead = 1000

// exportClaims streams all booked claims of a round as a CSV file.
func (s *Server) exportClaims(c echo.Context) error {
	round, err := s.readRound(c)
	if err != nil {
		return err
	}
	page, err := s.readClaimsAfter(c, round.ID, 0)
	if err != nil {
		return err
	}
	file, err := newCSVFile(c, "claims-"+round.ID+".csv", "number", "player", "nickname", "subject", "drop", "cents", "amount", "claimed_at")
	for err == nil && len(page) > 0 {
		if err = file.writeClaims(page); err != nil {
			break
		}
		page, err = s.readClaimsAfter(c, round.ID, page[len(page)-1].Number)
	}
	if err == nil {
		err = file.flush()
	}
	if err != nil {
		s.abortFile(c, err)
	}
	return nil
}

func (s *Server) readClaimsAfter(c echo.Context, round string, after int) ([]game.BookedClaim, error) {
	ctx, cancel := context.WithTimeout(c.Request().Context(), requestTimeout)
	defer cancel()
	return s.Exports.BookedClaims(ctx, round, after, claimsPerRead)
}

func (t *csvFile) writeClaims(page []game.BookedClaim) error {
	for i := range page {
		claim := &page[i]
		err := t.writeRow(strconv.Itoa(claim.Number), claim.Player, escapeFormula(claim.Nickname), escapeFormula(claim.Subject), strconv.Itoa(int(claim.Drop)),
			strconv.FormatInt(int64(claim.Cents), 10), claim.Cents.String(), formatMoment(claim.At))
		if err != nil {
			return err
		}
	}
	return t.extendDeadline()
}

// maxStatementLines is how many lines of a statement are shown; the CSV file has all of them.
const maxStatementLines = 1000

type statementLine struct {
	At           game.Moment `json:"at"`
	Round        string      `json:"round"`
	Title        string      `json:"title"`
	Purpose      string      `json:"purpose"`
	Cents        game.Cents  `json:"cents"`
	BalanceCents game.Cents  `json:"balance_cents"`
}

type statementAnswer struct {
	Lines        []statementLine `json:"lines"`
	BalanceCents game.Cents      `json:"balance_cents"`
}

// showStatement shows the last lines of the statement of a host's account.
func (s *Server) showStatement(c echo.Context) error {
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	shown := statementAnswer{Lines: []statementLine{}}
	err = s.Exports.Statement(c.Request().Context(), room.Code, func(lines []game.StatementLine) error {
		for _, line := range lines {
			shown.Lines = append(shown.Lines, statementLine{line.At, line.Round, line.Title, line.Purpose, line.Cents, line.Balance})
			shown.BalanceCents = line.Balance
		}
		shown.Lines = shown.Lines[max(0, len(shown.Lines)-maxStatementLines):]
		return nil
	})
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, shown)
}

// exportStatement streams the whole statement of a host's account as a CSV file.
func (s *Server) exportStatement(c echo.Context) error {
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	var file *csvFile
	begin := func() (err error) {
		if file == nil {
			file, err = newCSVFile(c, "statement-"+room.Code+".csv", "at", "round", "title", "purpose", "cents", "amount", "balance_cents", "balance")
		}
		return err
	}
	err = s.Exports.Statement(c.Request().Context(), room.Code, func(lines []game.StatementLine) error {
		if err := begin(); err != nil {
			return err
		}
		return file.writeStatement(lines)
	})
	if err != nil && file == nil {
		return err
	}
	if err == nil {
		err = begin() // an account without movements has a file with the header line only
	}
	if err == nil {
		err = file.flush()
	}
	if err != nil {
		s.abortFile(c, err)
	}
	return nil
}

func (t *csvFile) writeStatement(lines []game.StatementLine) error {
	for i := range lines {
		line := &lines[i]
		err := t.writeRow(formatMoment(line.At), line.Round, escapeFormula(line.Title), line.Purpose, strconv.FormatInt(int64(line.Cents), 10),
			line.Cents.String(), strconv.FormatInt(int64(line.Balance), 10), line.Balance.String())
		if err != nil {
			return err
		}
	}
	return t.extendDeadline()
}

// byteOrderMark makes Excel read what follows as UTF-8.
const byteOrderMark = "\uFEFF"

// writeRowsTimeout is how long a client may take to receive one page of rows. A slow client may need longer for the whole file.
const writeRowsTimeout = 30 * time.Second

// csvFile streams a CSV file (RFC 4180) to a client while its rows are still being read. It buffers only a few KB. It ends with the
// context of the request, even while a slow client is waited for.
type csvFile struct {
	c          echo.Context
	writer     *csv.Writer
	controller *http.ResponseController
	finish     func() bool // says that the end of the context is of no concern any more
}

// newCSVFile sends the response's header and the file's header line. After that no error can be answered any more, see abortFile.
func newCSVFile(c echo.Context, name string, columns ...string) (*csvFile, error) {
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, "text/csv; charset=utf-8")
	header.Set(echo.HeaderContentDisposition, `attachment; filename="`+name+`"`)
	header.Set(echo.HeaderCacheControl, "no-store")
	t := &csvFile{c: c, writer: csv.NewWriter(c.Response()), controller: http.NewResponseController(c.Response().Writer)}
	t.writer.UseCRLF = true
	t.finish = context.AfterFunc(c.Request().Context(), func() { _ = t.controller.SetWriteDeadline(time.Now()) })
	if err := t.extendDeadline(); err != nil {
		return nil, err
	}
	c.Response().WriteHeader(http.StatusOK)
	if _, err := c.Response().Write([]byte(byteOrderMark)); err != nil {
		return nil, err
	}
	return t, t.writeRow(columns...)
}

// extendDeadline gives the client writeRowsTimeout for the next page of rows.
func (t *csvFile) extendDeadline() error {
	err := t.controller.SetWriteDeadline(time.Now().Add(writeRowsTimeout))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return context.Cause(t.c.Request().Context()) // looked at last: its own deadline may just have been overwritten
}

func (t *csvFile) writeRow(cells ...string) error { return t.writer.Write(cells) }

func (t *csvFile) flush() error {
	t.writer.Flush()
	t.finish()
	return t.writer.Error()
}

// abortFile logs an error and closes the connection, so that the client does not take an incomplete file for a complete one.
func (s *Server) abortFile(c echo.Context, err error) {
	s.Logger.Error("file not completed", "path", c.Request().URL.Path, "error", err)
	panic(http.ErrAbortHandler)
}

// escapeFormula protects against formulas in text that players typed. A spreadsheet would evaluate a cell that begins like a
// formula, also one with full-width signs, or with spaces and characters that are not seen before them, as old names may have. An
// apostrophe in front makes the cell text.
func escapeFormula(cell string) string {
	unseen := func(r rune) bool { return r == ' ' || r > '\u007f' && unicode.In(r, unicode.Zs, unicode.Cf) }
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(cell, unseen))
	if strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + cell
	}
	return cell
}

// formatMoment formats a time like 2026-12-31T20:15:03.123Z.
func formatMoment(at game.Moment) string {
	return time.UnixMilli(int64(at)).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}
