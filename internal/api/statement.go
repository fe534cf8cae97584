package api

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
)

// statementMost is how many lines of a statement are shown; the file has all of them.
const statementMost = 1000

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

// showStatement shows the last lines.
func (s *Server) showStatement(c echo.Context) error {
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	shown := statementAnswer{Lines: []statementLine{}}
	err = s.Exports.Statement(c.Request().Context(), room.Code, func(lines []game.StatementLine) error {
		for _, line := range lines {
			shown.Lines = append(shown.Lines, statementLine{line.At, line.Round, line.Title, line.Purpose, line.Cents, line.Balance})
			shown.BalanceCents = line.Balance
		}
		shown.Lines = shown.Lines[max(0, len(shown.Lines)-statementMost):]
		return nil
	})
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, shown)
}

// exportStatement streams all lines.
func (s *Server) exportStatement(c echo.Context) error {
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	var file *table
	begin := func() (err error) {
		if file == nil {
			file, err = newTable(c, "statement-"+room.Code+".csv", "at", "round", "title", "purpose", "cents", "amount", "balance_cents", "balance")
		}
		return err
	}
	err = s.Exports.Statement(c.Request().Context(), room.Code, func(lines []game.StatementLine) error {
		if err := begin(); err != nil {
			return err
		}
		return file.statement(lines)
	})
	if err != nil && file == nil {
		return err
	}
	if err == nil {
		err = begin() // also for an account on which nothing moved yet
	}
	if err == nil {
		err = file.end()
	}
	if err != nil {
		s.broken(c, err)
	}
	return nil
}

func (t *table) statement(lines []game.StatementLine) error {
	for i := range lines {
		line := &lines[i]
		err := t.row(moment(line.At), line.Round, plainText(line.Title), line.Purpose, strconv.FormatInt(int64(line.Cents), 10),
			line.Cents.String(), strconv.FormatInt(int64(line.Balance), 10), line.Balance.String())
		if err != nil {
			return err
		}
	}
	return t.more()
}
