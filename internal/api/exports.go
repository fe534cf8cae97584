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
	// RoomBooks returns up to limit rounds of a room, the last begun first: those after one, or from the start if after is
	// empty; no rehearsals. game.ErrNotFound: the room has none with this id.
	RoomBooks(ctx context.Context, room, after string, limit int) ([]game.RoundBooks, error)
	// RoomSum sums what RoomBooks tells of all rounds.
	RoomSum(ctx context.Context, room string) (game.RoomSum, error)
	// Statement tells every movement of the account of a room's host, the oldest first, some at a time. It ends with the first
	// error of tell.
	Statement(ctx context.Context, room string, tell func([]game.StatementLine) error) error
	// HostBalance is what that account holds; below 0 is what the host owes.
	HostBalance(ctx context.Context, room string) (game.Cents, error)
}

// routeExports adds the books and files for hosts. Files stream, so no deadline bounds them as a whole.
func (s *Server) routeExports(host addRoute) {
	s.echo.Add(http.MethodGet, "/api/rounds/:id/claims.csv", s.hostOnly(s.exportClaims), s.refuseForeignOrigins)
	s.echo.Add(http.MethodGet, "/api/rooms/:code/statement.csv", s.hostOnly(s.exportStatement), s.refuseForeignOrigins)
	host("GET", "/rooms/:code/books", s.showRoomBooks)
	host("GET", "/rooms/:code/statement", s.showStatement)
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
