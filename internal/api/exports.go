package api

import (
	"context"
	"net/http"
	"time"

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

// routeExports adds the routes of books and files. A file is streamed, and has no timeout for the whole request.
func (s *Server) routeExports(host addRoute) {
	for extension, newFile := range map[string]newTableFile{"csv": newCSVFile, "xlsx": newXLSXFile} {
		s.echo.Add(http.MethodGet, "/api/rounds/:id/claims."+extension, s.hostOnly(s.exportClaims(newFile)), s.refuseForeignOrigins)
		s.echo.Add(http.MethodGet, "/api/rooms/:code/statement."+extension, s.hostOnly(s.exportStatement(newFile)), s.refuseForeignOrigins)
	}
	host("GET", "/rooms/:code/books", s.showRoomBooks)
	host("GET", "/rooms/:code/statement", s.showStatement)
}

// claimsPerRead is how many claims are read at a time for a file.
const claimsPerRead = 1000

// exportClaims streams all booked claims of a round as a file.
func (s *Server) exportClaims(newFile newTableFile) echo.HandlerFunc {
	return func(c echo.Context) error {
		round, err := s.readRound(c)
		if err != nil {
			return err
		}
		page, err := s.readClaimsAfter(c, round.ID, 0)
		if err != nil {
			return err
		}
		file, err := newFile(c, "claims-"+round.ID, "number", "player", "nickname", "subject", "drop", "cents", "amount", "claimed_at")
		if err != nil {
			s.abortFile(c, err)
		}
		defer file.close()
		for err == nil && len(page) > 0 {
			if err = writeClaims(file, page); err != nil {
				break
			}
			page, err = s.readClaimsAfter(c, round.ID, page[len(page)-1].Number)
		}
		if err == nil {
			err = file.finish()
		}
		if err != nil {
			s.abortFile(c, err)
		}
		return nil
	}
}

func (s *Server) readClaimsAfter(c echo.Context, round string, after int) ([]game.BookedClaim, error) {
	ctx, cancel := context.WithTimeout(c.Request().Context(), requestTimeout)
	defer cancel()
	return s.Exports.BookedClaims(ctx, round, after, claimsPerRead)
}

func writeClaims(file tableFile, page []game.BookedClaim) error {
	for i := range page {
		claim := &page[i]
		err := file.writeRow(claim.Number, token(claim.Player), claim.Nickname, claim.Subject, int(claim.Drop), int(claim.Cents), claim.Cents,
			formatMoment(claim.At))
		if err != nil {
			return err
		}
	}
	return file.endPage()
}

// maxStatementLines is how many lines of a statement are shown; the files have all of them.
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

// exportStatement streams the whole statement of a host's account as a file.
func (s *Server) exportStatement(newFile newTableFile) echo.HandlerFunc {
	return func(c echo.Context) error {
		room, err := s.readRoom(c)
		if err != nil {
			return err
		}
		var file tableFile
		begin := func() (err error) {
			if file == nil {
				file, err = newFile(c, "statement-"+room.Code, "at", "round", "title", "purpose", "cents", "amount", "balance_cents", "balance")
			}
			return err
		}
		defer func() {
			if file != nil {
				file.close()
			}
		}()
		err = s.Exports.Statement(c.Request().Context(), room.Code, func(lines []game.StatementLine) error {
			if err := begin(); err != nil {
				return err
			}
			return writeStatement(file, lines)
		})
		if err != nil && file == nil {
			return err
		}
		if err == nil {
			err = begin() // an account without movements has a file with the header line only
		}
		if err == nil {
			err = file.finish()
		}
		if err != nil {
			s.abortFile(c, err)
		}
		return nil
	}
}

func writeStatement(file tableFile, lines []game.StatementLine) error {
	for i := range lines {
		line := &lines[i]
		err := file.writeRow(formatMoment(line.At), token(line.Round), line.Title, token(line.Purpose), int(line.Cents), line.Cents, int(line.Balance), line.Balance)
		if err != nil {
			return err
		}
	}
	return file.endPage()
}

// formatMoment formats a time like 2026-12-31T20:15:03.123Z.
func formatMoment(at game.Moment) token {
	return token(time.UnixMilli(int64(at)).UTC().Format("2006-01-02T15:04:05.000Z07:00"))
}
