package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
)

// Exports reads what the books tell to hosts. What is on its way from Redis is not in there yet.
type Exports interface {
	// BookedClaims returns up to limit claims with a number above after, in the order of their numbers.
	BookedClaims(ctx context.Context, round string, after, limit int) ([]game.BookedClaim, error)
	// RoomBooks returns every round of a room that was begun, the newest first; no rehearsals.
	RoomBooks(ctx context.Context, room string) ([]game.RoundBooks, error)
	// Statement returns every movement of the account of a room's host, the oldest first.
	Statement(ctx context.Context, room string) ([]game.StatementLine, error)
	// HostBalance is what that account holds; below 0 is what the host owes.
	HostBalance(ctx context.Context, room string) (game.Cents, error)
}

// routeExports adds the books and files for hosts. Files of claims stream, so no deadline bounds them as a whole.
func (s *Server) routeExports(host addRoute) {
	s.echo.Add(http.MethodGet, "/api/rounds/:id/claims.csv", s.hostOnly(s.exportClaims), s.refuseForeignOrigins)
	host("GET", "/rooms/:code/books", s.showRoomBooks)
	host("GET", "/rooms/:code/statement", s.showStatement)
	host("GET", "/rooms/:code/statement.csv", s.exportStatement)
}

// claimsInPage is how many claims of a file are in memory at once.
const claimsInPage = 1000

// exportClaims streams all claims that are booked.
func (s *Server) exportClaims(c echo.Context) error {
	round, err := s.roundOf(c)
	if err != nil {
		return err
	}
	page, err := s.claimsAfter(c, round.ID, 0)
	if err != nil {
		return err
	}
	file, err := newTable(c, "claims-"+round.ID+".csv", "number", "player", "nickname", "subject", "drop", "cents", "amount", "claimed_at")
	for err == nil && len(page) > 0 {
		if err = file.claims(page); err != nil {
			break
		}
		page, err = s.claimsAfter(c, round.ID, page[len(page)-1].Number)
	}
	if err == nil {
		err = file.end()
	}
	if err != nil {
		s.broken(c, err)
	}
	return nil
}

func (s *Server) claimsAfter(c echo.Context, round string, after int) ([]game.BookedClaim, error) {
	ctx, cancel := context.WithTimeout(c.Request().Context(), answerWithin)
	defer cancel()
	return s.Exports.BookedClaims(ctx, round, after, claimsInPage)
}

func (t *table) claims(page []game.BookedClaim) error {
	for i := range page {
		claim := &page[i]
		err := t.row(strconv.Itoa(claim.Number), claim.Player, plainText(claim.Nickname), plainText(claim.Subject), strconv.Itoa(int(claim.Drop)),
			strconv.FormatInt(int64(claim.Cents), 10), claim.Cents.String(), moment(claim.At))
		if err != nil {
			return err
		}
	}
	return t.more()
}

// booksSum is where money is, in cents: budget = claimed + refunded + held, and paid out is a part of claimed.
type booksSum struct {
	BudgetCents   game.Cents `json:"budget_cents"`
	Claims        int        `json:"claims"`
	ClaimedCents  game.Cents `json:"claimed_cents"`
	RefundedCents game.Cents `json:"refunded_cents"`
	HeldCents     game.Cents `json:"held_cents"`
	PaidOutCents  game.Cents `json:"paid_out_cents"`
}

func (b *booksSum) add(other booksSum) {
	b.BudgetCents += other.BudgetCents
	b.Claims += other.Claims
	b.ClaimedCents += other.ClaimedCents
	b.RefundedCents += other.RefundedCents
	b.HeldCents += other.HeldCents
	b.PaidOutCents += other.PaidOutCents
}

type roundBooks struct {
	Round  string           `json:"round"`
	Title  string           `json:"title"`
	Phase  game.Phase       `json:"phase"`
	Reason game.CloseReason `json:"reason"`
	Frozen bool             `json:"frozen"`
	Books  booksSum         `json:"books"`
}

type roomBooksAnswer struct {
	Rounds       []roundBooks `json:"rounds"`
	Sum          booksSum     `json:"sum"`
	BalanceCents game.Cents   `json:"balance_cents"`
}

func (s *Server) showRoomBooks(c echo.Context) error {
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	all, err := s.Exports.RoomBooks(c.Request().Context(), room.Code)
	if err != nil {
		return err
	}
	balance, err := s.Exports.HostBalance(c.Request().Context(), room.Code)
	if err != nil {
		return err
	}
	shown := roomBooksAnswer{Rounds: make([]roundBooks, len(all)), BalanceCents: balance}
	for i, b := range all {
		sum := booksSum{
			BudgetCents: b.Round.Settings.Total, Claims: b.Booked.Packets, ClaimedCents: b.Booked.Cents, RefundedCents: b.Refunded,
			HeldCents: b.Held, PaidOutCents: b.PaidOut,
		}
		shown.Rounds[i] = roundBooks{b.Round.ID, b.Round.Settings.Title, b.Round.Phase, b.Round.Reason, b.Round.Frozen, sum}
		shown.Sum.add(sum)
	}
	return answer(c, http.StatusOK, shown)
}

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

// statementOf reads the statement of the room that the address names; its last balance is the account's.
func (s *Server) statementOf(c echo.Context) (room string, shown statementAnswer, err error) {
	named, err := s.roomOf(c)
	if err != nil {
		return "", statementAnswer{}, err
	}
	lines, err := s.Exports.Statement(c.Request().Context(), named.Code)
	shown.Lines = make([]statementLine, len(lines))
	for i, line := range lines {
		shown.Lines[i] = statementLine{line.At, line.Round, line.Title, line.Purpose, line.Cents, line.Balance}
		shown.BalanceCents = line.Balance
	}
	return named.Code, shown, err
}

func (s *Server) showStatement(c echo.Context) error {
	_, shown, err := s.statementOf(c)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, shown)
}

func (s *Server) exportStatement(c echo.Context) error {
	room, shown, err := s.statementOf(c)
	if err != nil {
		return err
	}
	file, err := newTable(c, "statement-"+room+".csv", "at", "round", "title", "purpose", "cents", "amount", "balance_cents", "balance")
	for i := 0; i < len(shown.Lines) && err == nil; i++ {
		line := &shown.Lines[i]
		err = file.row(moment(line.At), line.Round, plainText(line.Title), line.Purpose, strconv.FormatInt(int64(line.Cents), 10),
			line.Cents.String(), strconv.FormatInt(int64(line.BalanceCents), 10), line.BalanceCents.String())
	}
	if err == nil {
		err = file.end()
	}
	if err != nil {
		s.broken(c, err)
	}
	return nil
}
